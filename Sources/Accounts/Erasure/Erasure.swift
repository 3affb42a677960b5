public import Clocks
public import EventLog
public import Profiles

/// That a user has been erased, and where the log says so.
public struct Erasure: Hashable, Sendable {
  /// Whose data is gone.
  public let user: UserID
  /// The place of the event `UserErased`.
  public let position: Position
  /// When that was, as the log tells time.
  public let erasedAt: Timestamp

  /// An erasure of these parts.
  public init(user: UserID, position: Position, erasedAt: Timestamp) {
    self.user = user
    self.position = position
    self.erasedAt = erasedAt
  }
}
