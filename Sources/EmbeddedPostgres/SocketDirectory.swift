import CLinux
import Glibc

/// The private directory of the server's socket; its mode 0700 is the access control.
///
/// The server trusts whoever connects, since only root and the account it runs as can reach
/// the socket, and both own the data anyway; a password would have to lie beside it.
struct SocketDirectory: Sendable {
  /// `sun_path` holds 108 bytes with its NUL.
  private static let longestSocketPath = 107
  private static let socketName = "/.s.PGSQL.5432"

  let path: String

  /// The file by which PostgreSQL claims the socket.
  var lockFile: String { path + Self.socketName + ".lock" }

  init(for data: DataDirectory, user: ServerUser) {
    let beside = data.path + "/socket"
    if beside.utf8.count + Self.socketName.utf8.count <= Self.longestSocketPath {
      path = beside
    } else {
      path = "/tmp/jejak-\(user.uid)-\(String(fnv1a(data.path), radix: 16))"
    }
  }

  /// Makes the directory, or takes it as it is where it is already private to `user`.
  ///
  /// `/tmp` is anyone's: a directory of another owner, or a link, is refused.
  func make(for user: ServerUser) throws(EmbeddedPostgresError) -> FileDescriptor {
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw .system(path) }
    let directory = try FileDescriptor(directory: path)
    let owner = directory.status.st_uid
    guard owner == user.uid || owner == geteuid() else {
      throw .directoryUnusable(path: path, reason: "it belongs to another user")
    }
    if owner != user.uid, fchown(directory.number, user.uid, user.gid) != 0 {
      throw .system(path)
    }
    guard fchmod(directory.number, 0o700) == 0 else { throw .system(path) }
    return directory
  }

  /// Removes the directory; it stays where a socket is still in it.
  func remove() {
    _ = rmdir(path)
  }
}

/// The 64-bit FNV-1a hash of `text`.
private func fnv1a(_ text: String) -> UInt64 {
  text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}
