import EventLog
import Keys
import Postgres

/// A stretch of the log, read once for all followers that stand at the same place.
///
/// Events never change but by erasures, and what is committed has no hole, so it doesn't matter in
/// which transaction they were read, unless somebody has been erased since.
struct LogStretch {
  /// The log lacks an event between two others.
  struct Hole: Error {
    let missing: Position
  }

  /// Events read at a time.
  private let limit: Int
  /// Bytes of payload after which no further event is read.
  private let byteLimit: Int64
  private var events: [RecordedEvent] = []
  private let keyring: Keyring
  /// The last erasure when they were read.
  private var lastErasure: Int64 = 0

  init(_ pace: RunnerPace, _ keyring: Keyring) {
    self.keyring = keyring
    limit = pace.batch
    byteLimit = pace.batchBytes
  }

  /// The events after `position`, at most `count`; empty where there is none yet.
  ///
  /// With `isFresh` their payloads are as they are now, even if the events were read before.
  mutating func events(
    after position: Position,
    count: Int,
    isFresh: Bool,
    _ connection: borrowing BlockingConnection
  ) throws -> ArraySlice<RecordedEvent> {
    var isHeld = holdsNext(position)
    if isHeld, isFresh { isHeld = try Self.findLastErasure(connection) == lastErasure }
    if !isHeld { try read(after: position, connection) }
    guard let first = events.first else { return [] }
    let start = Int(position.next.rawValue - first.position.rawValue)
    return events[start...].prefix(count)
  }

  /// Lets go of what is held.
  mutating func clear() { events = [] }

  private static func findLastErasure(_ connection: borrowing BlockingConnection) throws -> Int64 {
    try connection.query("select coalesce(max(position), 0) from erasures").integer(0, 0)
  }

  private func holdsNext(_ position: Position) -> Bool {
    guard let first = events.first, let last = events.last else { return false }
    return first.position <= position.next && position < last.position
  }

  private mutating func read(
    after position: Position,
    _ connection: borrowing BlockingConnection
  ) throws {
    lastErasure = try Self.findLastErasure(connection)
    var parameters = Parameters()
    parameters.add(position.rawValue)
    parameters.add(Int64(limit))
    parameters.add(byteLimit)
    let rows = try connection.query(
      """
      select \(RecordedEvent.columns) from (
        select *, sum(coalesce(octet_length(payload), 0))
                    over (order by position rows unbounded preceding)
                  - coalesce(octet_length(payload), 0) as bytes_before
          from (select * from events
                 where position > $1::bigint order by position limit $2::bigint) page) events
       where bytes_before < $3::bigint order by position
      """,
      parameters
    )
    events = []
    events.reserveCapacity(rows.count)
    var reader = EventReader(keyring)
    for row in 0..<rows.count {
      let event = reader.event(rows, row)
      let expected = Position(position.rawValue + Int64(row) + 1)
      guard event.position == expected else {
        // What stands before the hole is taken in first.
        if row == 0 { throw Hole(missing: expected) }
        return
      }
      events.append(event)
    }
  }
}
