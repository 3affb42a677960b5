import EventLog
import Keys
import Postgres

/// Folds events that come key by key into the rows of their keys.
struct KeyFold<P: Projection> {
  private var key: P.Key?
  private var row: P.Row?
  private var reader: EventReader

  init(_ keyring: Keyring) {
    reader = EventReader(keyring)
  }

  /// The order in which events must come.
  static var order: String {
    P.partitioning == .byUser ? "user_id, stream, version" : "position"
  }

  /// Folds the events in `rows`, handing over each row that is complete; `finish` gives the last.
  mutating func add(_ rows: Rows, _ complete: (P.Row) throws -> Void) throws {
    for index in 0..<rows.count { try add(reader.event(rows, index), complete) }
  }

  /// Folds one event, handing over the row before it where that is complete.
  mutating func add(_ event: RecordedEvent, _ complete: (P.Row) throws -> Void) throws {
    guard let next = P.key(of: event) else { return }
    if key != next {
      try finish(complete)
      key = next
    }
    row = try P.apply(event, to: row)
  }

  /// Hands over the last row.
  mutating func finish(_ complete: (P.Row) throws -> Void) throws {
    if let row { try complete(row) }
    abandon()
  }

  /// Forgets what came of the present key.
  mutating func abandon() {
    (key, row) = (nil, nil)
  }
}
