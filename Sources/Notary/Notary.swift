public import EventLoop
public import MerkleTree
import Postgres

/// Grows the tree over the log and signs it, on a thread and a connection of its own.
///
/// Any number of processes may have one; the lock of a row lets one of them work at a time.
public final class Notary: Sendable {
  /// What its owner is told, on the notary's thread.
  public enum Report: Sendable {
    /// How it fares; that it signs is told every second or more often, unless it has nothing to show
    /// for it.
    case state(NotaryState)
    /// A step was refused by the database and will be tried again.
    case hindered(String)
    /// There is no connection; it is tried again.
    case disconnected(String)
  }

  /// What its connection calls itself.
  public static let applicationName = "jejak notary"
  /// Connections of a process.
  public static let connectionCount = 1
  /// A thread of this niceness yields to the loops without starving behind them.
  private static let niceness: Int32 = 5

  private let stopping = WakeUp()
  private let thread: LoopThread

  /// Starts to sign with `signer`, the key of `keyFile`, and to keep the last checkpoint in
  /// `checkpointFile`; `target` is a libpq connection string or URI.
  public init(
    target: String,
    signer: NoteSigner,
    keyFile: SigningKeyFile,
    checkpointFile: String?,
    pace: NotaryPace = NotaryPace(),
    report: @escaping @Sendable (Report) -> Void
  ) throws(SystemError) {
    thread = try LoopThread(name: "notary") { [stopping] in
      LoopThread.beNice(Self.niceness)
      var failures = 0
      while !stopping.isSet {
        do {
          var session = try NotarySession(
            target: target,
            signer: signer,
            keyFile: keyFile,
            file: checkpointFile.map(CheckpointFile.init(path:)),
            pace: pace,
            stopping: stopping
          ) { told in
            if case .state = told { failures = 0 }
            report(told)
          }
          try session.run()
        } catch {
          failures += 1
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

  /// Ends the work after the present step; `join` waits for that.
  public func stop() { stopping.set() }

  /// Waits for the thread's end.
  public func join() { thread.join() }
}
