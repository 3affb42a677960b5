import CLinux
import Glibc

/// The server of one data directory; every call is made under the start lock.
struct Server: Sendable {
  private static let initPatience = Duration.seconds(300)
  /// A crash under load leaves up to `max_wal_size` to replay.
  private static let startPatience = Duration.seconds(300)
  private static let remainsPatience = Duration.seconds(5)

  let data: DataDirectory
  let user: ServerUser
  let socket: SocketDirectory

  init(data: DataDirectory, userName: String?) throws(EmbeddedPostgresError) {
    self.data = data
    user = try ServerUser.choose(name: userName, clusterStatus: data.clusterStatus)
    socket = SocketDirectory(for: data, user: user)
  }

  var database: Database {
    Database(socketDirectory: socket.path, log: data.startLog)
  }

  /// Returns when the server accepts connections and has the database; starts it where it
  /// does not run.
  func ensureRunning() throws(EmbeddedPostgresError) {
    let deadline = ContinuousClock.now + Self.startPatience
    var started: pid_t?
    while !database.isReady {
      if let child = started {
        if ChildProcess.ended(child) != nil {
          // Another may have won: the server of a starter that was killed just now.
          started = nil
          if ServerProcess.find(cluster: data.cluster) != nil { continue }
          throw .startFailed(reason: data.lastWords, log: data.newestLog)
        }
      } else if ServerProcess.find(cluster: data.cluster) == nil {
        started = try start()
      }
      guard ContinuousClock.now < deadline else { throw .notReady(log: data.newestLog) }
      usleep(5_000)
    }
    try database.provision()
  }

  func stop() throws(EmbeddedPostgresError) {
    try ServerProcess.find(cluster: data.cluster)?.stop(cluster: data.cluster)
    socket.remove()
  }

  private func start() throws(EmbeddedPostgresError) -> pid_t {
    let binaries = try ServerBinaries.find(major: data.major)
    let log = try FileDescriptor(
      opening: data.startLog,
      flags: O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW
    )
    if data.clusterStatus == nil { try initialize(binaries, log: log) }
    ServerProcess.clearRemains(
      cluster: data.cluster,
      socketLock: socket.lockFile,
      patience: Self.remainsPatience
    )

    let cluster = try FileDescriptor(directory: data.cluster)
    guard cluster.status.st_uid == user.uid else {
      throw .directoryUnusable(path: data.cluster, reason: "it belongs to another user")
    }
    let socketDirectory = try socket.make(for: user)
    try ServerConfiguration(
      walCompression: binaries.walCompression,
      memory: SystemMemory().available
    ).write(cluster: cluster.number, user: user)
    return try Program(
      path: binaries.postgres,
      arguments: ["-D", "/proc/self/fd/3", "-c", "unix_socket_directories=/proc/self/fd/4"],
      user: user
    ).spawn(directories: [cluster.number, socketDirectory.number], log: log.number)
  }

  /// Makes the cluster aside and moves it into place, so that a killed `initdb` leaves
  /// nothing that looks whole.
  private func initialize(
    _ binaries: ServerBinaries,
    log: borrowing FileDescriptor
  ) throws(EmbeddedPostgresError) {
    let unfinished = data.unfinishedCluster
    try run("/bin/rm", ["-rf", "--", unfinished], as: .current, directory: nil, log: log)
    guard mkdir(unfinished, 0o700) == 0 else { throw .system(unfinished) }
    let cluster = try FileDescriptor(directory: unfinished)
    if geteuid() == 0, fchown(cluster.number, user.uid, user.gid) != 0 {
      throw .system(unfinished)
    }
    // Bytes decide the order, Unicode decides what a letter is.
    try run(
      binaries.initdb,
      [
        "-D", "/proc/self/fd/3", "--username", Database.superuser, "--auth=trust",
        "--encoding=UTF8", "--lc-collate=C", "--lc-ctype=C.UTF-8", "--lc-messages=C",
        "--data-checksums", "--no-instructions",
      ],
      as: user,
      directory: cluster.number,
      log: log
    )
    try appendInclude(cluster.number)
    guard rename(unfinished, data.cluster) == 0 else { throw .system(data.cluster) }
    let parent = try FileDescriptor(directory: data.path)
    _ = fsync(parent.number)
  }

  private func appendInclude(_ cluster: Int32) throws(EmbeddedPostgresError) {
    let file = openat(
      cluster,
      "postgresql.conf",
      O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC
    )
    let line = Array("\ninclude_if_exists = '\(ServerConfiguration.fileName)'\n".utf8)
    guard file >= 0 else { throw .system("postgresql.conf") }
    defer { _ = close(file) }
    guard write(file, line, line.count) == line.count, fsync(file) == 0 else {
      throw .system("postgresql.conf")
    }
  }

  private func run(
    _ path: String,
    _ arguments: [String],
    as user: ServerUser,
    directory: Int32?,
    log: borrowing FileDescriptor
  ) throws(EmbeddedPostgresError) {
    let program = Program(path: path, arguments: arguments, user: user)
    let child = try program.spawn(
      directories: directory.map { [$0] } ?? [],
      log: log.number
    )
    guard ChildProcess.wait(for: child, patience: Self.initPatience) == 0 else {
      throw .startFailed(reason: data.lastWords, log: data.startLog)
    }
  }
}
