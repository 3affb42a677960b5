import EventLog
import Postgres

/// What one step of a follower did.
enum Advance {
  /// It took in so many events.
  case applied(Int)
  /// There is nothing new.
  case upToDate
  /// It was stopped before, by an event that it can't take in.
  case stopped
  /// The table `projections` doesn't have it as a follower.
  case absent
}

/// Events that were not taken in, one of which can't be.
struct Poison: Error {
  /// Where the projection stands.
  let position: Position
  /// How many events after it were tried.
  let count: Int
  let reason: String

  /// The first of the events, which it is where only one was tried.
  var event: Position { position.next }
}

extension Projection {
  /// Takes in the next events, at most `count`, with the checkpoint in the same transaction.
  ///
  /// The lock of the projection's row makes this right whoever else does it at the same time:
  /// each event has its effect once, in order. With `retrying`, a projection that has stopped
  /// tries its event once more.
  static func advance(
    _ connection: borrowing BlockingConnection,
    _ page: inout LogStretch,
    count: Int,
    retrying: Bool
  ) throws -> Advance {
    try connection.transaction { () throws -> Advance in
      var name = Parameters()
      name.add(Self.name)
      let checkpoint = try connection.query(
        "select position, stopped_at from projections where name = $1::text for update",
        name
      )
      guard checkpoint.count == 1, !checkpoint.isNull(0, 0) else { return .absent }
      let position = Position(checkpoint.integer(0, 0))
      let wasStopped = !checkpoint.isNull(0, 1)
      guard !wasStopped || retrying else { return .stopped }
      var tried = 1
      do {
        _ = try position.checked
        let events = try page.headers(
          after: position,
          count: wasStopped ? 1 : count,
          connection
        )
        guard let last = events.last else { return .upToDate }
        tried = events.count
        try take(events, page, connection)
        var reached = name
        reached.add(last.position.rawValue)
        try connection.query(
          """
          update projections set position = $2::bigint, stopped_at = null, stopped_because = null,
                 stopped_time = null
           where name = $1::text
          """,
          reached
        )
        return .applied(events.count)
      } catch {
        guard let reason = StopReason.of(error) else { throw error }
        throw Poison(position: position, count: tried, reason: reason)
      }
    }
  }

  /// Folds the events of `headers` into the table, with the payloads of those that have an effect
  /// where `apply` needs them.
  ///
  /// Who writes a value holds the projection's row, which an erasure waits for: what is read here is
  /// there until the step has ended.
  private static func take(
    _ headers: ArraySlice<RecordedEvent>,
    _ page: LogStretch,
    _ connection: borrowing BlockingConnection
  ) throws {
    guard readsPayload else { return try fold(headers, into: name, connection) }
    let effective = headers.filter { key(of: $0) != nil }
    try fold(page.read(effective, connection), into: name, connection)
  }

  /// Takes in what comes before the event that can't be, and stops there; nil if it did not, or
  /// had before.
  ///
  /// The event is found by halves. It may turn out that all can be taken in after all.
  static func isolate(
    _ poison: Poison,
    _ connection: borrowing BlockingConnection,
    _ page: inout LogStretch,
    retrying: Bool
  ) throws -> Poison? {
    var poison = poison
    var suspects = poison.count
    while suspects > 0 {
      if poison.count == 1 { return try stop(poison, connection) ? poison : nil }
      do {
        let half = max(1, suspects / 2)
        let step = try advance(connection, &page, count: half, retrying: retrying)
        guard case .applied(let count) = step else { return nil }
        suspects -= count
      } catch let smaller as Poison {
        poison = smaller
        suspects = smaller.count
      }
    }
    return nil
  }

  /// Notes that the event after `poison.position` can't be taken in, unless somebody else has
  /// taken it in meanwhile; true if this is news.
  private static func stop(
    _ poison: Poison,
    _ connection: borrowing BlockingConnection
  ) throws -> Bool {
    var parameters = Parameters()
    parameters.add(name)
    parameters.add(poison.position.rawValue)
    parameters.add(poison.reason)
    // No further than the table takes.
    parameters.add(max(0, poison.event.rawValue))
    let rows = try connection.query(
      """
      with before as (
        select name, stopped_at from projections
         where name = $1::text and position = $2::bigint for update)
      update projections p
         set stopped_at = $4::bigint, stopped_because = $3::text,
             stopped_time = coalesce(p.stopped_time, clock_timestamp())
        from before where p.name = before.name
      returning before.stopped_at is null
      """,
      parameters
    )
    return rows.count == 1 && rows.bool(0, 0)
  }
}
