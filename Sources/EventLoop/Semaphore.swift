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

  /// Waits for a signal of its own.
  public func wait() {
    while sem_wait(handle) == -1 && errno == EINTR {}
  }
}
