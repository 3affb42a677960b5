import CLinux
import Glibc
import Synchronization

/// A flag that says stop, with a descriptor that becomes readable when it is set.
///
/// `@unchecked Sendable`: the descriptors are made once and closed at the end.
public final class WakeUp: @unchecked Sendable {
  private let flag = Atomic(false)
  private var ends: [Int32] = [-1, -1]

  /// Not set.
  public init() {
    // Without a pipe, for lack of descriptors, the flag is seen at the next poll.
    pipe(&ends)
    for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit {
    for end in ends where end >= 0 { close(end) }
  }

  /// Becomes readable when it is set.
  public var descriptor: Int32 { ends[0] }

  /// Whether it is set.
  public var isSet: Bool { flag.load(ordering: .acquiring) }

  /// Sets it, for good.
  public func set() {
    flag.store(true, ordering: .releasing)
    _ = write(ends[1], "!", 1)
  }

  /// Waits until it is set; at most `duration`.
  public func wait(atMost duration: Duration) {
    guard duration > .zero, !isSet else { return }
    let (seconds, attoseconds) = duration.components
    var end = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&end, 1, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000))
  }
}
