import CLinux
import Glibc
import Sodium

/// Small files that hold secrets: read only where nobody else can, and made so.
public enum SecretFile {
  /// Bytes of a file at most.
  public static let limit = 1 << 20

  /// The bytes of the file at `path`.
  ///
  /// It has to be a file that no other account can read or write; the group may read one that is
  /// root's, as PostgreSQL allows it for keys.
  public static func read(_ path: String) throws(SecretFileError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw errno == ENOENT ? .missing(path) : .unusable(path, reason: lastReason())
    }
    defer { _ = close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .unusable(path, reason: lastReason()) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .unusable(path, reason: "it is no regular file")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw .unusable(path, reason: "it belongs to another account")
    }
    let forbidden: mode_t = status.st_uid == 0 ? 0o027 : 0o077
    guard status.st_mode & forbidden == 0 else { throw .exposed(path) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var count = 0
    while count < bytes.count {
      let got = bytes[count...].withUnsafeMutableBytes {
        Glibc.read(file, $0.baseAddress, $0.count)
      }
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw .unusable(path, reason: lastReason()) }
      if got == 0 { break }
      count += got
    }
    guard count <= limit else { throw .unusable(path, reason: "it is too large") }
    return Array(bytes.prefix(count))
  }

  /// Makes the file at `path` with mode 0600, whole or not at all; false where there is one.
  public static func make(_ path: String, _ bytes: [UInt8]) throws(SecretFileError) -> Bool {
    let draft = try write(bytes, beside: path)
    defer { _ = unlink(draft) }
    // A link is made only where there is nothing.
    if link(draft, path) != 0 {
      guard errno == EEXIST else { throw .unusable(path, reason: lastReason()) }
      return false
    }
    try syncDirectory(of: path)
    return true
  }

  /// Puts `bytes` in the place of the file at `path`, whole or not at all, with its mode and owner.
  public static func replace(_ path: String, _ bytes: [UInt8]) throws(SecretFileError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .unusable(path, reason: lastReason()) }
    let draft = try write(bytes, beside: path)
    defer { _ = unlink(draft) }
    let isOurs = status.st_uid == geteuid() && status.st_gid == getegid()
    guard isOurs || chown(draft, status.st_uid, status.st_gid) == 0,
      chmod(draft, status.st_mode & 0o7777) == 0, rename(draft, path) == 0
    else { throw .unusable(path, reason: lastReason()) }
    try syncDirectory(of: path)
  }

  /// Writes the bytes to a file of another name in the same directory, down to the disk.
  private static func write(
    _ bytes: [UInt8],
    beside path: String
  ) throws(SecretFileError) -> String {
    let draft = "\(path).\(Base64URL.encode(RandomBytes.make(6))).new"
    let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .unusable(path, reason: lastReason()) }
    defer { _ = close(file) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        let reason = lastReason()
        unlink(draft)
        throw .unusable(path, reason: reason)
      }
      rest = rest.dropFirst(count)
    }
    guard fsync(file) == 0 else {
      let reason = lastReason()
      unlink(draft)
      throw .unusable(path, reason: reason)
    }
    return draft
  }

  private static func syncDirectory(of path: String) throws(SecretFileError) {
    let file = try openDirectory(of: path)
    defer { _ = close(file) }
    guard fsync(file) == 0 else { throw .unusable(path, reason: lastReason()) }
  }

  private static func openDirectory(of path: String) throws(SecretFileError) -> Int32 {
    let end = path.lastIndex(of: "/")
    let directory = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { throw .unusable(path, reason: lastReason()) }
    return file
  }

  /// Runs `body` while no other process on this machine does so for a file of the same directory.
  public static func alone<Result>(
    with path: String,
    _ body: () throws -> Result
  ) throws -> Result {
    let file = try openDirectory(of: path)
    // Closing lets go of the lock.
    defer { _ = close(file) }
    while flock(file, LOCK_EX) != 0 {
      guard errno == EINTR else { throw SecretFileError.unusable(path, reason: lastReason()) }
    }
    return try body()
  }

  private static func lastReason() -> String { String(cString: strerror(errno)) }
}

/// Why a file with a secret is not used.
public enum SecretFileError: Error, Equatable, CustomStringConvertible {
  /// There is none at this path.
  case missing(String)
  /// Others can read or write it: take that right from them, and ask who has read it.
  case exposed(String)
  /// It can't be read or written.
  case unusable(String, reason: String)

  /// For the operator.
  public var description: String {
    switch self {
    case .missing(let path): "there is no file \(path)"
    case .exposed(let path): "others can read or write \(path); run chmod 600 \(path)"
    case .unusable(let path, let reason): "can't use \(path): \(reason)"
    }
  }
}
