import Glibc

/// A counting semaphore of the system.
///
/// `@unchecked Sendable`: `sem_t` is made for use by many threads; the class gives it a fixed address.
public final class Semaphore: @unchecked Sendable {
  private let handle: UnsafeMutablePointer<sem_t>

  /// A semaphore at zero.
  public init() {
    handle = .allocate(capacity: 1)
    sem_init(handle, 0, 0)
  }

  deinit {
    sem_destroy(handle)
    handle.deallocate()
  }

  /// Lets one waiter pass, now or later.
  public func signal() {
    sem_post(handle)
  }

  /// Waits for a signal of its own; false where none came in time.
  ///
  /// The system measures the time by the clock on the wall: where that is set, it is another.
  public func wait(atMost duration: Duration) -> Bool {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let (seconds, attoseconds) = duration.components
    let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
    time.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
    time.tv_nsec = nanoseconds % 1_000_000_000
    while sem_timedwait(handle, &time) == -1 {
      guard errno == EINTR else { return false }
    }
    return true
  }

  /// Waits for a signal of its own.
  public func wait() {
    while sem_wait(handle) == -1 && errno == EINTR {}
  }
}
