import Glibc

/// A counting semaphore of the system.
///
/// `@unchecked Sendable`: `sem_t` is made for use by many threads; the class gives it a fixed address.
final class Semaphore: @unchecked Sendable {
  private let handle: UnsafeMutablePointer<sem_t>

  init() {
    handle = .allocate(capacity: 1)
    sem_init(handle, 0, 0)
  }

  deinit {
    sem_destroy(handle)
    handle.deallocate()
  }

  func signal() {
    sem_post(handle)
  }

  func wait() {
    while sem_wait(handle) == -1 && errno == EINTR {}
  }
}
