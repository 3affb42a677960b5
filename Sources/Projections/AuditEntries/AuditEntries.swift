public import EventLog

/// `audit_entries`: one row for each event, found by user, actor, type and field.
public enum AuditEntries: TableProjection {
  /// The table.
  public static let name = "audit_entries"
  /// The definition's number.
  public static let revision: Int32 = 1
  /// By the runner.
  public static let mode = ProjectionMode.following
  /// An entry depends on its event alone.
  public static let partitioning = Partitioning.byEvent
  /// Values stay in the event.
  public static let readsPayload = false

  /// The event's position.
  public static func key(of event: RecordedEvent) -> Position? { event.position }

  /// The entry, whatever was there.
  ///
  /// An event of a newer release is never passed over: fields and actors may mean something else.
  public static func apply(
    _ event: RecordedEvent,
    to row: AuditEntry?
  ) throws(ProjectionError) -> AuditEntry? {
    _ = try event.knownKind()
    return AuditEntry(event)
  }
}
