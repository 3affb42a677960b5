import CLinux
import Glibc

/// An flock on one file; the kernel lets go of it when the process dies.
struct FileLock: ~Copyable {
  private let file: FileDescriptor

  /// Opens the file, making it where needed for the owner of its directory, who may be
  /// another than root.
  init(path: String, owner: ServerUser?) throws(EmbeddedPostgresError) {
    file = try FileDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW)
    if let owner, geteuid() == 0 { _ = fchown(file.number, owner.uid, owner.gid) }
  }

  /// Takes the lock unless another process holds one in its way.
  func tryLock(_ operation: Int32) -> Bool {
    while flock(file.number, operation | LOCK_NB) != 0 {
      guard errno == EINTR else { return false }
    }
    return true
  }

  /// Takes the lock exclusively, waiting for as long as `patience` says.
  func lock(patience: Duration, path: String) throws(EmbeddedPostgresError) {
    let deadline = ContinuousClock.now + patience
    while !tryLock(LOCK_EX) {
      guard ContinuousClock.now < deadline else { throw .busy(path: path) }
      usleep(5_000)
    }
  }
}
