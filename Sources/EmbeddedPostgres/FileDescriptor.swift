import CLinux
import Glibc

/// Owner of one descriptor, close-on-exec; `close` runs exactly once.
struct FileDescriptor: ~Copyable {
  let number: Int32

  /// Opens `path`; the error names the path and the system's reason.
  init(
    opening path: String,
    flags: Int32,
    mode: mode_t = 0o600
  ) throws(EmbeddedPostgresError) {
    let number = open(path, flags | O_CLOEXEC, mode)
    guard number >= 0 else { throw .system(path) }
    self.number = number
  }

  init(directory path: String) throws(EmbeddedPostgresError) {
    try self.init(opening: path, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  }

  deinit { _ = close(number) }

  var status: stat {
    var status = stat()
    fstat(number, &status)
    return status
  }
}

extension EmbeddedPostgresError {
  /// What `errno` says about `path`.
  static func system(_ path: String) -> Self {
    .directoryUnusable(path: path, reason: String(cString: strerror(errno)))
  }
}
