public import EventLog
import Glibc
public import Profiles

/// What a rebuild is asked for with; nil leaves what an open one has, or takes the default.
public struct RebuildOptions: Sendable {
  /// More workers than this only take each other's time.
  public static let workerLimit: Int32 = 64
  /// Faster than this is as fast as it goes.
  public static let throttleLimit: Int32 = 100_000_000
  /// One thread for each core.
  public static var defaultWorkers: Int32 {
    min(workerLimit, Int32(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
  }

  /// How many threads fold, each with two connections; the default is one for each core.
  public var workers: Int32?
  /// Events a second at most.
  public var throttle: Int32?
  /// Ends before the exchange.
  public var isDryRun = false
  /// Goes on where the live table differs from the log.
  public var acceptsDifferences = false
  /// Whether the service runs it.
  public var isInService = false
  /// The API key of who asks.
  public var requestedBy: Identifier<Actor.Operator>?

  /// The defaults.
  public init() {}
}
