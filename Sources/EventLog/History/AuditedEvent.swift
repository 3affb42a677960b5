public import Postgres

/// An event with the name of the API key that caused it.
public struct AuditedEvent: Sendable {
  /// The event.
  public let event: RecordedEvent
  /// What the operator's key is called; nil where none was used.
  public let keyName: String?

  /// The event in row `row`, which has the event's columns and then the name.
  public init(_ rows: Rows, _ row: Int) {
    event = RecordedEvent(rows, row)
    keyName = rows.string(row, RecordedEvent.columnCount)
  }
}
