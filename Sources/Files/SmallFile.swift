import CLinux
import Glibc

/// Small files that are read and written as a whole: keys, which are nobody else's business, and
/// checkpoints, which everybody may read.
public enum SmallFile {
  /// Who a file is for.
  public enum Audience: Sendable {
    /// Its owner alone.
    case owner
    /// Whoever wants to read it.
    case everybody

    /// The mode of a new file.
    fileprivate var mode: mode_t { self == .owner ? 0o600 : 0o644 }
  }

  /// Bytes of a file at most.
  public static let limit = 1 << 20

  /// Symbolic links that are followed at most, as many as the system follows.
  private static let linkLimit = 40

  /// The bytes of the file at `path`.
  ///
  /// One that is for its owner has to belong to this account or to root, and is refused where
  /// anybody else has any right to it.
  public static func read(
    _ path: String,
    for audience: Audience
  ) throws(SmallFileError) -> [UInt8] {
    // Whatever is no regular file is found out without waiting for it.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw errno == ENOENT ? .missing(path) : .system(path) }
    defer { _ = close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .system(path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .unusable(path, reason: "it is no regular file")
    }
    if audience == .owner {
      guard status.st_uid == geteuid() || status.st_uid == 0 else {
        throw .unusable(path, reason: "it belongs to another account")
      }
      guard status.st_mode & 0o077 == 0 else { throw .exposed(path) }
    }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var count = 0
    while count < bytes.count {
      let got = bytes[count...].withUnsafeMutableBytes {
        Glibc.read(file, $0.baseAddress, $0.count)
      }
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw .system(path) }
      if got == 0 { break }
      count += got
    }
    guard count <= limit else { throw .unusable(path, reason: "it is too large") }
    return Array(bytes.prefix(count))
  }

  /// Makes the file at `path` for its owner alone, whole or not at all; false where there is one.
  ///
  /// Where `path` is a symbolic link to nothing, what it names is made.
  public static func make(_ path: String, _ bytes: [UInt8]) throws(SmallFileError) -> Bool {
    let path = try place(of: path).path
    let draft = try write(bytes, beside: path, mode: Audience.owner.mode)
    defer { _ = unlink(draft) }
    // Unlike a rename, a link leaves alone what is there.
    if link(draft, path) != 0 {
      guard errno == EEXIST else { throw .system(path) }
      return false
    }
    try syncDirectory(of: path)
    return true
  }

  /// Puts `bytes` in the place of the file at `path`: at every moment it is the old or the new one
  /// as a whole.
  ///
  /// It keeps mode and owner; where there is none, a new one is made. A symbolic link stays, and the
  /// file that it names is replaced; what is no regular file is left alone. One that is for its owner
  /// is not replaced where it would become another account's.
  public static func replace(
    _ path: String,
    _ bytes: [UInt8],
    for audience: Audience
  ) throws(SmallFileError) {
    let (path, status) = try place(of: path)
    let draft = try write(bytes, beside: path, mode: audience.mode)
    defer { _ = unlink(draft) }
    if let status {
      let isOurs = status.st_uid == geteuid() && status.st_gid == getegid()
      guard isOurs || chown(draft, status.st_uid, status.st_gid) == 0 || audience == .everybody,
        chmod(draft, status.st_mode & 0o777) == 0
      else { throw .system(path) }
    }
    guard rename(draft, path) == 0 else { throw .system(path) }
    try syncDirectory(of: path)
  }

  /// Gives the file at `path` its own name with a dot and `suffix` behind it.
  ///
  /// A symbolic link stays, and names nothing then.
  public static func putAside(_ path: String, as suffix: String) throws(SmallFileError) {
    let (target, status) = try place(of: path)
    guard status != nil else { throw .missing(path) }
    guard rename(target, "\(target).\(suffix)") == 0 else { throw .system(path) }
    try syncDirectory(of: target)
  }

  /// Runs `body` while no other process on this machine does so for a file of the same directory.
  public static func alone<Result>(
    with path: String,
    _ body: () throws -> Result
  ) throws -> Result {
    let file = try openDirectory(of: place(of: path).path)
    // Closing lets go of the lock.
    defer { _ = close(file) }
    while flock(file, LOCK_EX) != 0 {
      guard errno == EINTR else { throw SmallFileError.system(path) }
    }
    return try body()
  }

  /// Where the file at `path` is, or is to be, behind all symbolic links, and its status if it is
  /// there; throws where that is no regular file.
  private static func place(
    of path: String
  ) throws(SmallFileError) -> (path: String, status: stat?) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    guard isThere || errno == ENOENT else { throw .system(path) }
    guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
      throw .unusable(path, reason: "it is no regular file")
    }
    var target = path
    for _ in 0...linkLimit {
      var own = stat()
      if lstat(target, &own) != 0 {
        guard errno == ENOENT, !isThere else { throw .system(path) }
        return (target, nil)
      }
      guard own.st_mode & S_IFMT == S_IFLNK else {
        // A link of the system, such as one to an open file that has no name, needn't name its file.
        guard isThere, own.st_dev == status.st_dev, own.st_ino == status.st_ino else { break }
        return (target, status)
      }
      let name = try linked(target)
      target = name.hasPrefix("/") ? name : directory(of: target) + "/" + name
    }
    throw .unusable(path, reason: "it is not where its link says")
  }

  /// What a symbolic link says.
  private static func linked(_ path: String) throws(SmallFileError) -> String {
    var name = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &name, name.count)
    guard count >= 0 else { throw .system(path) }
    return String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Writes the bytes to a file of another name in the same directory, down to the disk.
  private static func write(
    _ bytes: [UInt8],
    beside path: String,
    mode: mode_t
  ) throws(SmallFileError) -> String {
    let draft = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 36)).new"
    let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard file >= 0 else {
      // The file needn't be there, so it is its directory that is not.
      throw errno == ENOENT
        ? .unusable(path, reason: "its directory does not exist") : .system(path)
    }
    defer { _ = close(file) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw giveUp(draft, of: path) }
      rest = rest.dropFirst(count)
    }
    guard fsync(file) == 0 else { throw giveUp(draft, of: path) }
    return draft
  }

  private static func giveUp(_ draft: String, of path: String) -> SmallFileError {
    let error = SmallFileError.system(path)
    unlink(draft)
    return error
  }

  /// A name is there after a loss of power only when its directory is.
  private static func syncDirectory(of path: String) throws(SmallFileError) {
    let file = try openDirectory(of: path)
    defer { _ = close(file) }
    guard fsync(file) == 0 else { throw .system(path) }
  }

  private static func openDirectory(of path: String) throws(SmallFileError) -> Int32 {
    let directory = directory(of: path)
    let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { throw .system(directory) }
    return file
  }

  private static func directory(of path: String) -> String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }
}
