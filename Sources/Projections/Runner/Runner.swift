public import EventLog
public import EventLoop
public import Keys
public import Postgres

/// Follows the log: brings every projection of the mode `following` up to date, on a thread and a
/// connection of its own.
///
/// Any number of processes may have one; a lease lets one of them work, and another takes over
/// within seconds when that one dies. Each event has its effect once, in the order of the log,
/// even where two work at the same time: a batch's effects and the checkpoint are written in one
/// transaction that holds the projection's row.
public final class Runner: Sendable {
  /// What its owner is told, on the runner's thread.
  public enum Report: Sendable {
    /// Whether this process runs the followers, when that changes.
    case leads(Bool)
    /// How all projections stand; every second, or more often.
    case states([ProjectionState])
    /// A projection has stopped: the log has an event that it can't take in.
    case stopped(String, Position, reason: String)
    /// A projection that had stopped took in the event at this position.
    case resumed(String, Position)
    /// A step was refused and will be tried again, for a reason that passes.
    case hindered(String, String)
    /// There is no connection; it is tried again.
    case disconnected(String)
  }

  /// What its connection calls itself.
  public static let applicationName = "jejak projections"
  /// Connections of a process.
  public static let connectionCount = 1
  /// A thread of this niceness yields to the loops without starving behind them.
  private static let niceness: Int32 = 5

  private let stopping = WakeUp()
  private let thread: LoopThread

  /// Starts following; `target` is a libpq connection string or URI.
  public init(
    target: String,
    keyring: Keyring,
    projections: [any Projection.Type],
    pace: RunnerPace = RunnerPace(),
    report: @escaping @Sendable (Report) -> Void
  ) throws(SystemError) {
    thread = try LoopThread(name: "projections") { [stopping] in
      LoopThread.beNice(Self.niceness)
      let lease = RunnerLease(length: pace.lease)
      var failures = 0
      var isLeading = false
      while !stopping.isSet {
        do {
          var session = try RunnerSession(
            target: target,
            keyring: keyring,
            projections: projections,
            pace: pace,
            lease: lease,
            stopping: stopping
          ) { told in
            switch told {
            case .states: failures = 0
            case .leads(let leads): isLeading = leads
            default: break
            }
            report(told)
          }
          try session.run()
        } catch {
          failures += 1
          // Another process may lead before this one is back.
          if isLeading { report(.leads(false)) }
          isLeading = false
          report(
            .disconnected(
              (error as? BlockingConnection.Failure)?.safeDescription ?? "\(type(of: error))"
            )
          )
          stopping.wait(atMost: pace.pause(after: failures))
        }
      }
    }
  }

  /// Whether any process runs the followers now, as far as the database can tell.
  public static func isAnywhere(_ connection: borrowing BlockingConnection) throws -> Bool {
    try connection.query(
      "select exists (select from projection_runner where held_until >= clock_timestamp())"
    ).bool(0, 0)
  }

  /// Gives the lease up and ends the connection after the present step; `join` waits for that.
  public func stop() { stopping.set() }

  /// Waits for the thread's end.
  public func join() { thread.join() }
}
