import EventLog
import Postgres

extension Projection {
  /// Folds events, which come in the order of the log, on top of the rows that `table` has.
  static func fold(
    _ events: some Sequence<RecordedEvent>,
    into table: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    let keyed = events.compactMap { event in key(of: event).map { ($0, event) } }
    let keys = Set(keyed.map(\.0)).sorted()
    guard !keys.isEmpty else { return }
    // The row of an event is not added to.
    let stored = partitioning == .byEvent ? [:] : try load(keys, from: table, connection)
    var rows: [Key: Row?] = [:]
    for key in keys { rows.updateValue(stored[key], forKey: key) }
    for (key, event) in keyed {
      let row = try apply(event, to: rows[key] ?? nil, connection)
      rows.updateValue(row, forKey: key)
    }
    // Of current_users the service may remove no row, and there is none to be removed.
    try write(
      rows.filter { key, row in row != nil || stored[key] != nil },
      to: table,
      connection
    )
  }

  /// The row after `event`, whose user may have been erased between the reading of the events and that
  /// of the rows: then it makes no sense on top of a row that is gone.
  private static func apply(
    _ event: RecordedEvent,
    to row: Row?,
    _ connection: borrowing BlockingConnection
  ) throws -> Row? {
    do {
      return try apply(event, to: row)
    } catch {
      guard partitioning == .byUser, !event.isErased else { throw error }
      var parameters = Parameters()
      parameters.add(event.position)
      let now = try connection.query(
        """
        select payload is null
               and exists (select from erasures where erasures.user_id = events.user_id)
          from events where position = $1::bigint
        """,
        parameters
      )
      guard now.count == 1, now.bool(0, 0) else { throw error }
      return nil
    }
  }
}
