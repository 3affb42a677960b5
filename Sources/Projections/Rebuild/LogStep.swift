import EventLog
import Keys
import Postgres

/// Applies the events behind a position to a table, in the order of the log.
enum LogStep<P: Projection> {
  /// Events applied at a time.
  static var size: Int { 2_000 }

  /// Applies the events after `position` up to `last` to `table`; the position that is reached,
  /// which is `last` unless more than `size` events are due, or those of a step at `rate`.
  static func run(
    after position: Int64,
    upTo last: Int64,
    to table: String,
    at rate: Int32? = nil,
    _ keyring: Keyring,
    _ connection: borrowing BlockingConnection
  ) throws -> Int64 {
    let reached = min(last, position + Int64(Throttle.step(at: rate, atMost: size)))
    guard reached > position else { return position }
    var parameters = Parameters()
    parameters.add(position)
    parameters.add(reached)
    let events = try connection.query(
      """
      select \(P.eventColumns) from events
       where position > $1::bigint and position <= $2::bigint order by position
      """,
      parameters
    )
    guard events.count == reached - position else {
      throw ProjectionError.incomplete(
        "\(events.count) events after position \(position), where \(reached - position) were due"
      )
    }
    try apply(events, to: table, keyring, connection)
    return reached
  }

  /// Applies `events`, which are in the order of the log.
  static func apply(
    _ events: Rows,
    to table: String,
    _ keyring: Keyring,
    _ connection: borrowing BlockingConnection
  ) throws {
    try P.fold(EventReader.events(events, keyring), into: table, connection)
  }

  /// Removes from the table of a kind, which holds the events up to `held`, whoever was erased since,
  /// and keeps others from being erased until the transaction ends.
  static func forgetErased(
    in kind: String,
    held: Int64,
    _ connection: borrowing BlockingConnection
  ) throws {
    guard P.partitioning == .byUser else { return }
    var parameters = Parameters()
    parameters.add(P.name)
    parameters.add(kind)
    parameters.add(held)
    try connection.query("select forget_erased($1::text, $2::text, $3::bigint)", parameters)
  }

  /// Folds anew, from their first event, the users who have events after `position` up to `last`.
  static func foldUsers(
    after position: Int64,
    upTo last: Int64,
    to table: String,
    _ keyring: Keyring,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(position)
    parameters.add(last)
    let events = try connection.query(
      """
      select \(P.eventColumns) from events
       where position <= $2::bigint
         and user_id in (select user_id from events
                          where position > $1::bigint and position <= $2::bigint)
       order by position
      """,
      parameters
    )
    var rows: [P.Key: P.Row?] = [:]
    var reader = EventReader(keyring)
    for index in 0..<events.count {
      let event = reader.event(events, index)
      guard let key = P.key(of: event) else { continue }
      rows.updateValue(try P.apply(event, to: rows[key] ?? nil), forKey: key)
    }
    // Who has been erased has no row there any more.
    try P.write(rows.filter { $0.value != nil }, to: table, connection)
  }
}
