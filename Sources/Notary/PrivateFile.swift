import CLinux
import Glibc

/// Small files with one owner: keys, and the checkpoint that is kept outside the database.
public enum PrivateFile {
  /// Why a file can't be used; the words name no contents.
  public struct Failure: Error, CustomStringConvertible {
    /// The file.
    public let path: String
    /// What is wrong with it.
    public let reason: String
    /// There is no such file.
    public let isMissing: Bool
    /// Both in a line.
    public var description: String { "\(path): \(reason)" }

    /// A failure in these words.
    public init(_ path: String, _ reason: String, isMissing: Bool = false) {
      self.path = path
      self.reason = reason
      self.isMissing = isMissing
    }

    /// What `errno` says.
    init(errorAt path: String) {
      self.init(path, String(cString: strerror(errno)), isMissing: errno == ENOENT)
    }
  }

  /// Bytes of a file at most.
  static let limit = 1 << 20
  private static let privateMode: mode_t = 0o600
  private static let publicMode: mode_t = 0o644

  /// The bytes of the file at `path`; a secret is refused where others than its owner can read it.
  public static func read(_ path: String, isSecret: Bool) throws(Failure) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Failure(errorAt: path) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw Failure(errorAt: path) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(path, "is no regular file") }
    guard !isSecret || status.st_mode & 0o077 == 0 else {
      throw Failure(path, "others can read it; chmod 600")
    }
    guard status.st_size <= limit else { throw Failure(path, "is too large") }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var count = 0
    while count < bytes.count {
      let part = bytes.withUnsafeMutableBytes { buffer in
        Glibc.read(file, buffer.baseAddress.map { $0 + count }, buffer.count - count)
      }
      if part < 0 && errno == EINTR { continue }
      guard part >= 0 else { throw Failure(errorAt: path) }
      if part == 0 { break }
      count += part
    }
    guard count <= limit else { throw Failure(path, "is too large") }
    return Array(bytes.prefix(count))
  }

  /// Makes the file at `path`, for its owner alone; fails where there is one.
  ///
  /// It is there as a whole or not at all: it is written under another name first.
  public static func create(_ path: String, _ bytes: [UInt8]) throws(Failure) {
    let unfinished = try write(bytes, beside: path, mode: privateMode)
    defer { unlink(unfinished) }
    // Unlike a rename, a link leaves alone what is there.
    guard link(unfinished, path) == 0 else { throw Failure(errorAt: path) }
    try syncDirectory(of: path)
  }

  /// Puts `bytes` in the place of the file at `path`, which others may read: at every moment it is
  /// the old or the new one as a whole.
  public static func replace(_ path: String, _ bytes: [UInt8]) throws(Failure) {
    let unfinished = try write(bytes, beside: path, mode: publicMode)
    guard rename(unfinished, path) == 0 else {
      let failure = Failure(errorAt: path)
      unlink(unfinished)
      throw failure
    }
    try syncDirectory(of: path)
  }

  /// Gives the file at `path` another name.
  public static func move(_ path: String, to other: String) throws(Failure) {
    guard rename(path, other) == 0 else { throw Failure(errorAt: path) }
    try syncDirectory(of: other)
  }

  private static func write(
    _ bytes: [UInt8],
    beside path: String,
    mode: mode_t
  ) throws(Failure) -> String {
    let name = "\(path).\(getpid()).new"
    unlink(name)
    let file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard file >= 0 else { throw Failure(errorAt: path) }
    defer { close(file) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        let failure = Failure(errorAt: path)
        unlink(name)
        throw failure
      }
      rest = rest.dropFirst(count)
    }
    guard fsync(file) == 0 else {
      let failure = Failure(errorAt: path)
      unlink(name)
      throw failure
    }
    return name
  }

  /// A name is there after a loss of power only when its directory is.
  private static func syncDirectory(of path: String) throws(Failure) {
    let end = path.lastIndex(of: "/")
    let directory = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { throw Failure(errorAt: directory) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw Failure(errorAt: directory) }
  }
}
