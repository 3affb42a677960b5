import CLinux
import Glibc

/// A process that we started and have to reap.
enum ChildProcess {
  /// Its wait status once it has ended; nil while it runs or where it is not our child.
  static func ended(_ processID: pid_t) -> Int32? {
    var status: Int32 = 0
    return waitpid(processID, &status, WNOHANG) == processID ? status : nil
  }

  /// Its wait status; nil where it had to be killed because it outlived `patience`.
  static func wait(for processID: pid_t, patience: Duration) -> Int32? {
    let deadline = ContinuousClock.now + patience
    while ContinuousClock.now < deadline {
      if let status = ended(processID) { return status }
      usleep(2_000)
    }
    kill(processID, SIGKILL)
    var status: Int32 = 0
    waitpid(processID, &status, 0)
    return nil
  }
}
