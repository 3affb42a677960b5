public import Keys
public import Postgres

/// An event with the name of the API key that caused it.
public struct AuditedEvent: Sendable {
  /// The event.
  public let event: RecordedEvent
  /// What the operator's key is called; nil where none was used.
  public let keyName: String?

  /// The events in `rows`, which have the event's columns and then the name.
  public static func all(_ rows: Rows, _ keyring: Keyring) -> [AuditedEvent] {
    EventReader.events(rows, keyring).enumerated().map { row, event in
      AuditedEvent(event: event, keyName: rows.string(row, RecordedEvent.columnCount))
    }
  }
}
