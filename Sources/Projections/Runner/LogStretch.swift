import EventLog
import Keys
import Postgres

/// A stretch of the log, read once for all followers that stand at the same place.
///
/// Headers never change, and what is committed has no hole, so it doesn't matter in which transaction
/// they were read. Payloads go when somebody is erased: they are read by those who need them, in the
/// transaction of their step.
struct LogStretch {
  /// The log lacks an event between two others.
  struct Hole: Error {
    let missing: Position
  }

  /// Events read at a time.
  private let limit: Int
  /// Bytes of payload after which no further event is held, since a follower may need them all.
  private let byteLimit: Int
  private var events: [RecordedEvent] = []
  private let keyring: Keyring

  init(_ pace: RunnerPace, _ keyring: Keyring) {
    self.keyring = keyring
    limit = pace.batch
    byteLimit = pace.batchBytes
  }

  /// The events after `position` without their payloads, at most `count`; empty where there is none
  /// yet.
  mutating func headers(
    after position: Position,
    count: Int,
    _ connection: borrowing BlockingConnection
  ) throws -> ArraySlice<RecordedEvent> {
    if !holdsNext(position) { try read(after: position, connection) }
    guard let first = events.first else { return [] }
    let start = Int(position.next.rawValue - first.position.rawValue)
    return events[start...].prefix(count)
  }

  /// The same events as they are now, with their payloads.
  func read(
    _ headers: [RecordedEvent],
    _ connection: borrowing BlockingConnection
  ) throws -> [RecordedEvent] {
    guard !headers.isEmpty else { return [] }
    var parameters = Parameters()
    parameters.add(array: headers) { $0.position }
    let rows = try connection.query(
      """
      select \(RecordedEvent.columns) from events
       where position = any($1::bigint[]) order by position
      """,
      parameters
    )
    let events = EventReader.events(rows, keyring)
    let missing = headers.enumerated().first { index, header in
      index >= events.count || events[index].position != header.position
    }
    if let (_, header) = missing { throw Hole(missing: header.position) }
    return events
  }

  /// Lets go of what is held.
  mutating func clear() { events = [] }

  private func holdsNext(_ position: Position) -> Bool {
    guard let first = events.first, let last = events.last else { return false }
    return first.position <= position.next && position < last.position
  }

  private mutating func read(
    after position: Position,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(position.rawValue)
    parameters.add(Int64(limit))
    let rows = try connection.query(
      """
      select \(RecordedEvent.headerColumns), octet_length(payload) from events
       where position > $1::bigint order by position limit $2::bigint
      """,
      parameters
    )
    events = []
    events.reserveCapacity(rows.count)
    var bytesBefore = 0
    for row in 0..<rows.count where bytesBefore < byteLimit {
      let event = RecordedEvent(header: rows, row)
      let expected = Position(position.rawValue + Int64(row) + 1)
      guard event.position == expected else {
        // What stands before the hole is taken in first.
        if row == 0 { throw Hole(missing: expected) }
        return
      }
      events.append(event)
      if event.payloadState == .stored {
        bytesBefore += Int(rows.integer(row, RecordedEvent.columnCount, as: Int32.self))
      }
    }
  }
}
