/// The times and sizes that the notary keeps to.
public struct NotaryPace: Sendable {
  /// The shortest time between two signatures, whoever gives them; an event is signed at most so
  /// long after its commit, and a little for the work itself.
  public var interval = Duration.seconds(1)
  /// The longest wait between two looks at the log; a notification makes it shorter.
  public var poll = Duration.seconds(1)
  /// How often, with nothing to sign, it sees whether tree and checkpoints still fit together.
  public var recheck = Duration.seconds(10)
  /// The pause after it has refused to sign.
  public var refusalPause = Duration.seconds(5)
  /// Events that are taken into the tree at a time, at most; a tile's at the least.
  public var batch: Int64 = 16_384
  /// How long an answer of the database may take before the connection counts as lost.
  public var patience = Duration.seconds(30)
  /// Pauses after a failure, from the first to the longest, each twice the one before.
  public var firstPause = Duration.milliseconds(100)
  /// The longest of them.
  public var longestPause = Duration.seconds(2)

  /// What the service keeps to.
  public init() {}

  /// The pause after so many failures in a row.
  func pause(after failures: Int) -> Duration {
    min(longestPause, firstPause * (1 << min(max(0, failures - 1), 10)))
  }
}
