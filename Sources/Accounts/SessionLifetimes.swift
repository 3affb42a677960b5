import Clocks

/// How long a session lasts; the database's clock decides when it has ended.
public struct SessionLifetimes: Sendable {
  /// A session unused for so long has ended.
  public let idle: Duration
  /// A session this old has ended, however it is used.
  public let absolute: Duration

  /// Sessions that last so long.
  public init(idle: Duration, absolute: Duration) {
    self.idle = idle
    self.absolute = absolute
  }

  /// When a session ends that was opened then, and isn't used after `use`.
  func end(of use: Timestamp, openedAt: Timestamp) -> Timestamp {
    min(use + idle, openedAt + absolute)
  }

  /// The last use is written down once in this time, so that fetching writes next to nothing.
  var touch: Duration { min(idle / 24, .seconds(3600)) }
}
