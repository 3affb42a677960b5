public import Keys
public import Postgres
import Profiles

/// Reads events out of rows, and opens their payloads.
///
/// It keeps the key of the last user, whose events often come one after the other.
public struct EventReader {
  private let keyring: Keyring
  private let acceptsPlain: Bool
  private var last: (user: UserID, key: WrappedKey, opened: DataKey)?

  /// A reader of a log whose keys `keyring` opens.
  public init(_ keyring: Keyring) {
    self.keyring = keyring
    acceptsPlain = keyring.acceptsPlain
  }

  /// The event in row `row`, which has the `RecordedEvent.columns` or the `headerColumns`.
  public mutating func event(_ rows: Rows, _ row: Int) -> RecordedEvent {
    var event = RecordedEvent(header: rows, row)
    let stored = rows.bytes(row, RecordedEvent.payloadColumn)
    guard !stored.isEmpty else { return event }
    if stored.first == Sealing.plain, acceptsPlain {
      event.payload = Array(stored)
      return event
    }
    switch key(of: event.user, rows, row) {
    case .success(let key):
      let place = Sealing.Place(
        user: event.user,
        stream: event.stream,
        version: event.version,
        type: event.type,
        schema: event.schema
      )
      if let payload = Sealing.open(stored, at: place, key: key) {
        event.payload = payload
      } else {
        event.unreadable = "the payload of \(event.type) does not open"
      }
    case .failure(let error):
      event.unreadable = error.description
      if case .unknownMasterKey = error { event.lacksMasterKey = true }
    }
    return event
  }

  /// The events in `rows`.
  public static func events(_ rows: Rows, _ keyring: Keyring) -> [RecordedEvent] {
    var reader = EventReader(keyring)
    return (0..<rows.count).map { reader.event(rows, $0) }
  }

  private mutating func key(
    of user: UserID,
    _ rows: Rows,
    _ row: Int
  ) -> Result<DataKey, KeyError> {
    guard let wrapped = WrappedKey(rows, row, RecordedEvent.keyColumn) else {
      return .failure(.destroyed)
    }
    // A key that was wrapped anew meanwhile is opened anew.
    if let last, last.user == user, last.key == wrapped { return .success(last.opened) }
    do {
      let opened = try keyring.unwrap(wrapped, of: user)
      last = (user, wrapped, opened)
      return .success(opened)
    } catch {
      return .failure(error)
    }
  }
}
