public import Clocks
public import EventLog
public import Profiles

/// Who did what, when, to whom, and which fields; values are read from the event itself.
public struct AuditEntry: Hashable, Sendable {
  /// The event's place in the log.
  public let position: Position
  /// When it was committed.
  public let recordedAt: Timestamp
  /// Whose event it is.
  public let user: UserID
  /// Who caused it.
  public let actor: Actor
  /// The version of its stream that it made.
  public let version: Version
  /// The stream, as the database numbers it.
  public let stream: Int16
  /// The name of what happened.
  public let type: String
  /// The names of the fields that changed.
  public let fields: [String]
}

extension AuditEntry {
  /// The entry of `event`, which its header tells.
  init(_ event: RecordedEvent) {
    position = event.position
    recordedAt = event.recordedAt
    user = event.user
    actor = event.actor
    version = event.version
    stream = event.stream
    type = event.type
    fields = event.changed
  }
}
