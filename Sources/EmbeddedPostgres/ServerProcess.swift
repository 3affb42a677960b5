import CLinux
import Glibc

/// The postmaster of one cluster, found by its pid file and told from a reused number.
struct ServerProcess {
  let processID: pid_t

  /// The running server of `cluster`, whoever started it.
  static func find(cluster: String) -> ServerProcess? {
    guard let processID = recordedProcess(cluster: cluster),
      isServer(processID, of: cluster)
    else { return nil }
    return ServerProcess(processID: processID)
  }

  /// Makes way for a new server after a crash, for up to `patience`.
  ///
  /// Backends of a killed postmaster end by themselves; those that do not are killed, as
  /// PostgreSQL refuses to start beside them. Its pid file is left to PostgreSQL, except that
  /// a number which another process has by now would keep it from starting for ever.
  static func clearRemains(cluster: String, patience: Duration) {
    let deadline = ContinuousClock.now + patience
    while true {
      let remaining = processes(of: cluster)
      guard !remaining.isEmpty else { break }
      if ContinuousClock.now > deadline {
        for processID in remaining { kill(processID, SIGKILL) }
      }
      usleep(5_000)
    }
    if let processID = recordedProcess(cluster: cluster),
      ChildProcess.ended(processID) == nil, kill(processID, 0) == 0
    {
      _ = unlink(cluster + "/postmaster.pid")
    }
  }

  /// Stops the server: fast first, then at once (which the next start recovers from).
  func stop(cluster: String) throws(EmbeddedPostgresError) {
    for (signal, patience) in [(SIGINT, Duration.seconds(60)), (SIGQUIT, .seconds(10))] {
      kill(processID, signal)
      let deadline = ContinuousClock.now + patience
      while ContinuousClock.now < deadline {
        if ChildProcess.ended(processID) != nil || !Self.isServer(processID, of: cluster) {
          return
        }
        usleep(2_000)
      }
    }
    throw .notStopped(processID: processID)
  }

  private static func recordedProcess(cluster: String) -> pid_t? {
    firstLine(of: cluster + "/postmaster.pid").flatMap { pid_t($0) }.flatMap {
      $0 > 1 ? $0 : nil
    }
  }

  /// Whether the process is a `postgres` that works in `cluster`.
  private static func isServer(_ processID: pid_t, of cluster: String) -> Bool {
    guard firstLine(of: "/proc/\(processID)/comm") == "postgres",
      let owner = status(of: cluster)
    else { return false }
    var working = stat()
    if stat("/proc/\(processID)/cwd", &working) == 0 {
      return working.st_dev == owner.st_dev && working.st_ino == owner.st_ino
    }
    // Root of a container without CAP_SYS_PTRACE may not look: the owner has to do.
    return errno == EACCES && status(of: "/proc/\(processID)")?.st_uid == owner.st_uid
  }

  private static func processes(of cluster: String) -> [pid_t] {
    guard let stream = opendir("/proc"), let owner = status(of: cluster) else { return [] }
    defer { _ = closedir(stream) }
    var found: [pid_t] = []
    while let entry = readdir(stream) {
      guard let processID = pid_t(entry.name) else { continue }
      var working = stat()
      guard firstLine(of: "/proc/\(processID)/comm") == "postgres",
        stat("/proc/\(processID)/cwd", &working) == 0,
        working.st_dev == owner.st_dev, working.st_ino == owner.st_ino
      else { continue }
      found.append(processID)
    }
    return found
  }
}
