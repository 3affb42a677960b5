import CLinux
import Glibc
import Synchronization

/// A share in the running server; the last process that lets go of its share stops it.
///
/// The kernel drops the share of a killed process. If that was the last one the server goes
/// on, and the next process takes it over.
public final class Lease: Sendable {
  /// How long others may take to start or stop the server.
  private static let lockPatience = Duration.seconds(600)

  /// A libpq URI of the database, as its owner.
  public let databaseURL: String
  /// A libpq URI of the database, as the role of the service, which owns nothing.
  public let serviceURL: String
  /// The data directory, absolute.
  public let dataDirectory: String

  private let server: Server
  private let share: Mutex<FileLock?>

  init(server: Server) throws(EmbeddedPostgresError) {
    self.server = server
    databaseURL = server.database.url
    serviceURL = server.database.serviceURL
    dataDirectory = server.data.path
    let starting = try Self.startLock(of: server)
    // Before the start, so that nobody stops what this process is about to use.
    let lease = try FileLock(path: server.data.lease, owner: server.data.owner)
    guard lease.tryLock(LOCK_SH) else { throw .busy(path: server.data.lease) }
    try server.ensureRunning()
    share = Mutex(consume lease)
    _ = consume starting
  }

  deinit { try? release() }

  /// Starts the server again where it has died; returns at once where it runs.
  ///
  /// Blocks for as long as a recovery takes: call it from a thread that may wait.
  public func ensureRunning() throws(EmbeddedPostgresError) {
    let starting = try Self.startLock(of: server)
    try server.ensureRunning()
    _ = consume starting
  }

  /// Gives the share back, and stops the server when no other process has one.
  ///
  /// A second call does nothing. Blocks while the server shuts down.
  public func release() throws(EmbeddedPostgresError) {
    guard let lease = share.withLock({ $0.take() }) else { return }
    let starting = try Self.startLock(of: server)
    if lease.tryLock(LOCK_EX) { try server.stop() }
    _ = consume starting
  }

  private static func startLock(of server: Server) throws(EmbeddedPostgresError) -> FileLock {
    let path = server.data.startLock
    let lock = try FileLock(path: path, owner: server.data.owner)
    try lock.lock(patience: lockPatience, path: path)
    return lock
  }
}
