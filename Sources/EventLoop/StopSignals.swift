import Clocks
import Glibc

/// SIGTERM and SIGINT, taken by one thread when it asks for them.
public enum StopSignals {
  /// Keeps the signals, and SIGPIPE for good, from ending the process; before other threads start.
  public static func block() {
    signal(SIGPIPE, SIG_IGN)
    var set = stopping()
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Waits for one of the signals; false where none came in time.
  public static func wait(atMost duration: Duration) -> Bool {
    var set = stopping()
    var time = duration.systemTime
    return sigtimedwait(&set, nil, &time) > 0
  }

  private static func stopping() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGTERM)
    sigaddset(&set, SIGINT)
    return set
  }
}
