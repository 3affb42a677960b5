/// The times and sizes that the runner keeps to.
public struct RunnerPace: Sendable {
  /// The longest wait between two looks at the log; a notification makes it shorter.
  public var poll = Duration.milliseconds(500)
  /// The shortest time from one round to the next while the followers keep up, so that a busy log
  /// gives large batches instead of many.
  public var gathering = Duration.milliseconds(50)
  /// How often the lease is renewed, or tried for, and the states are told.
  public var heartbeat = Duration.seconds(1)
  /// How long a lease holds without being renewed.
  public var lease = Duration.seconds(5)
  /// How long a small answer may take before the connection counts as lost.
  public var patience = Duration.milliseconds(750)
  /// How long the statements of a step may take; a batch that takes longer is made smaller.
  public var stepTimeout = Duration.seconds(5)
  /// How long a step waits for a lock, while the other followers wait for it.
  public var lockTimeout = Duration.milliseconds(500)
  /// Events in a batch.
  public var batch = 2_000
  /// Bytes of payload after which a batch takes no further event.
  public var batchBytes = 16 << 20
  /// Pauses after a failure, from the first to the longest, each twice the one before.
  public var firstPause = Duration.milliseconds(100)
  /// The longest of them.
  public var longestPause = Duration.seconds(2)
  /// Whether it waits for its turn; a test lets several run at once.
  public var takesTurns = true

  /// What the service keeps to.
  public init() {}
}
