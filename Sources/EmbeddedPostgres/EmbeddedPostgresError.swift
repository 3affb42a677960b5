/// Why the embedded PostgreSQL cannot be used; `description` is one line for the operator.
public enum EmbeddedPostgresError: Error, Equatable, Sendable {
  /// No server binaries of a version that can open the data: install the named package.
  case serverNotInstalled(package: String)
  /// The data directory cannot be made, read or owned: give another, or mend its rights.
  case directoryUnusable(path: String, reason: String)
  /// Another process starts or stops the server and has not finished in time: try again.
  case busy(path: String)
  /// A program of PostgreSQL could not be run or ended early: read the log that is named.
  case startFailed(reason: String, log: String)
  /// The server is up but has not accepted a connection in time, as in a long recovery.
  case notReady(log: String)
  /// The server took neither the fast nor the immediate shutdown: look at the process.
  case notStopped(processID: Int32)
}

extension EmbeddedPostgresError: CustomStringConvertible {
  /// One line for the operator.
  public var description: String {
    switch self {
    case .serverNotInstalled(let package):
      "no PostgreSQL server found: install the Debian package \(package), "
        + "or set JEJAK_DATABASE_URL"
    case .directoryUnusable(let path, let reason):
      "cannot use \(path): \(reason)"
    case .busy(let path):
      "another process has been starting or stopping the database for too long (\(path))"
    case .startFailed(let reason, let log):
      "the embedded PostgreSQL did not start: \(reason) (see \(log))"
    case .notReady(let log):
      "the embedded PostgreSQL accepts no connection yet (see \(log))"
    case .notStopped(let processID):
      "the embedded PostgreSQL, process \(processID), does not stop"
    }
  }
}
