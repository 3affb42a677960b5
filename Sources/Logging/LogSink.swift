import CLinux
import Glibc
import Synchronization

/// A descriptor that takes whole lines, one `write` each, and never holds its writer up.
///
/// Where the reader of a pipe has stopped, lines are dropped and counted; the count is written
/// as soon as the reader takes lines again.
final class LogSink: Sendable {
  /// A pipe that polls as writable takes this much without blocking (`PIPE_BUF`).
  static let longestLine = 4096
  /// How long a reader may take before its lines are dropped.
  private static let patienceMilliseconds: Int32 = 20

  private let descriptor: Int32
  private let dropped = Mutex(0)

  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  func write(_ line: String) {
    // One writer at a time, or two could see room for one.
    dropped.withLock { dropped in
      guard isWritable(within: dropped == 0 ? Self.patienceMilliseconds : 0) else {
        dropped += 1
        return
      }
      if dropped > 0 {
        put("{\"level\":\"warning\",\"message\":\"log lines dropped\",\"count\":\(dropped)}")
        dropped = 0
        guard isWritable(within: 0) else {
          dropped = 1
          return
        }
      }
      put(line)
    }
  }

  private func put(_ line: String) {
    var bytes = Array(line.utf8)
    if bytes.count >= Self.longestLine {
      bytes.removeLast(bytes.count - (Self.longestLine - 4))
      while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
      if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
      bytes += Array("…".utf8)
    }
    bytes.append(UInt8(ascii: "\n"))
    while Glibc.write(descriptor, bytes, bytes.count) < 0, errno == EINTR {}
  }

  private func isWritable(within milliseconds: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&request, 1, milliseconds) > 0 && Int32(request.revents) & POLLOUT != 0
  }
}
