import CLinux
import Glibc

/// The postmaster of one cluster, found by its pid file and told from a reused number.
struct ServerProcess {
  let processID: pid_t

  /// The running server of `cluster`, whoever started it.
  static func find(cluster: String) -> ServerProcess? {
    guard let processID = recordedProcess(cluster + "/postmaster.pid"),
      isServer(processID, of: cluster)
    else { return nil }
    return ServerProcess(processID: processID)
  }

  /// Makes way for a new server after a crash, for up to `patience`.
  ///
  /// Backends of a killed postmaster end by themselves; those that do not are killed, as
  /// PostgreSQL refuses to start beside them. Its lock files are left to PostgreSQL, except
  /// that a number which another process has by now, or a zombie that its parent has not
  /// reaped, would keep it from starting for ever.
  static func clearRemains(cluster: String, socketLock: String, patience: Duration) {
    let deadline = ContinuousClock.now + patience
    while ContinuousClock.now < deadline + patience {
      let remaining = processes(of: cluster)
      if remaining.isEmpty { break }
      if ContinuousClock.now > deadline {
        for processID in remaining { kill(processID, SIGKILL) }
      }
      usleep(5_000)
    }
    for lock in [cluster + "/postmaster.pid", socketLock] {
      guard let processID = recordedProcess(lock) else { continue }
      if ChildProcess.ended(processID) == nil, kill(processID, 0) == 0 { _ = unlink(lock) }
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

  private static func recordedProcess(_ lock: String) -> pid_t? {
    firstLine(of: lock).flatMap { pid_t($0) }.flatMap {
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
    guard let owner = status(of: cluster) else { return [] }
    return entries(of: "/proc").compactMap { pid_t($0) }.filter { processID in
      var working = stat()
      return firstLine(of: "/proc/\(processID)/comm") == "postgres"
        && stat("/proc/\(processID)/cwd", &working) == 0
        && working.st_dev == owner.st_dev && working.st_ino == owner.st_ino
    }
  }
}
