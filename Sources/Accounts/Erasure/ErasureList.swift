import Clocks
import EventLog
import Files
import Glibc
import JSON
import Profiles

/// The list of erasures outside the database, which tells a restored backup whom it must not hold.
///
/// A line of JSON for each: `{"user":"…","position":12,"erasedAt":"…"}`. Lines are only added, each
/// is on the disk when `add` returns, and several processes may share the file. A last line that was
/// cut short by a kill is taken off by `add`.
public struct ErasureList: Sendable {
  /// Why the list can't be used, for the operator.
  public struct Failure: Error, CustomStringConvertible {
    /// One line, which names the file.
    public let description: String
  }

  /// The file.
  public let path: String

  /// The list at `path`, which needn't be there yet.
  public init(path: String) { self.path = path }

  /// Whether the file is there.
  public var exists: Bool { access(path, F_OK) == 0 }

  /// How long a process waits for another one that holds the lock on the file; those of this
  /// program hold it for as long as they write, others may for ever.
  public static let lockPatience = Duration.seconds(2)

  /// All that is listed, in the order of the lines; nothing where there is no file.
  ///
  /// Throws where the last line was cut short, unless `add` is to take it off afterwards.
  public func read(mends: Bool = false) throws(Failure) -> [Erasure] {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      if errno == ENOENT { return [] }
      throw failure("read")
    }
    defer { _ = close(file) }
    try refuseIrregular(file)
    var contents = try contents(of: file)
    if contents.cutShort != nil && !mends {
      // Somebody may be writing it.
      try lock(file, LOCK_SH, Self.lockPatience)
      contents = try self.contents(of: file)
    }
    if let line = contents.cutShort, !mends {
      throw Failure(description: "\(path):\(line): this line was cut short")
    }
    return contents.erasures
  }

  /// Adds those of `erasures` whose users are not listed yet; how many that were.
  ///
  /// Throws where another process holds the lock on the file for longer than `patience`.
  @discardableResult
  public func add(
    _ erasures: [Erasure],
    patience: Duration = lockPatience
  ) throws(Failure) -> Int {
    let isNew = !exists
    // Nobody else's business, though there are no names in it.
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard file >= 0 else { throw failure("write") }
    defer { _ = close(file) }
    try refuseIrregular(file)
    try lock(file, LOCK_EX, patience)
    let contents = try contents(of: file)
    var listed = Set(contents.erasures.map(\.user))
    let new = erasures.filter { listed.insert($0.user).inserted }
    if contents.cutShort != nil {
      guard ftruncate(file, off_t(contents.end)) == 0 else { throw failure("write") }
    }
    let lines = (contents.lacksBreak ? [Self.newline] : []) + new.flatMap(Self.line)
    guard !lines.isEmpty else { return 0 }
    guard lseek(file, 0, SEEK_END) >= 0 else { throw failure("write") }
    try write(lines, to: file)
    if isNew { Self.syncDirectory(of: path) }
    return new.count
  }

  /// Puts `erasures` in the place of whatever the file held, all or nothing.
  public func replace(with erasures: [Erasure]) throws(Failure) {
    do throws(SmallFileError) {
      try SmallFile.replace(path, erasures.flatMap(Self.line), for: .owner)
    } catch {
      throw Failure(description: "can't write \(error.path): \(error.reason)")
    }
  }

  /// An erasure as a line.
  public static func line(_ erasure: Erasure) -> [UInt8] {
    let line: JSON = [
      "user": .string(erasure.user.description),
      "position": .integer(erasure.position.rawValue),
      "erasedAt": .string(erasure.erasedAt.description),
    ]
    return line.bytes + [newline]
  }

  private static let newline = UInt8(ascii: "\n")

  /// Bytes of a line at most; what is longer is no erasure.
  private static let lineLimit = 1 << 10
  /// How each line begins.
  private static let lineStart = Array(#"{"user":""#.utf8)
  /// The pause between two tries for the lock, in microseconds.
  private static let lockPause: UInt32 = 20_000

  /// What is in a file.
  private struct Contents {
    var erasures: [Erasure] = []
    /// Where the last line that is whole ends.
    var end = 0
    /// Whether it ends without a line break.
    var lacksBreak = false
    /// The number of the line behind it, which ends early.
    var cutShort: Int?
  }

  /// Reads a file line by line, from its beginning.
  private func contents(of file: Int32) throws(Failure) -> Contents {
    guard lseek(file, 0, SEEK_SET) == 0 else { throw failure("read") }
    var contents = Contents()
    var number = 1
    var line: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(file, &piece, piece.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw failure("read") }
      if count == 0 { break }
      var rest = piece[..<count]
      while let end = rest.firstIndex(of: Self.newline) {
        line += rest[..<end]
        guard line.isEmpty || erasure(line).map({ contents.erasures.append($0) }) != nil else {
          throw noErasure(number)
        }
        contents.end += line.count + 1
        number += 1
        line.removeAll(keepingCapacity: true)
        rest = rest[(end + 1)...]
      }
      line += rest
      guard line.count <= Self.lineLimit else { throw noErasure(number) }
    }
    guard !line.isEmpty else { return contents }
    if let erasure = erasure(line) {
      contents.erasures.append(erasure)
      contents.end += line.count
      contents.lacksBreak = true
    } else {
      // What doesn't begin as a line does is something else, which nobody is to take off.
      guard zip(line, Self.lineStart).allSatisfy(==) else { throw noErasure(number) }
      contents.cutShort = number
    }
    return contents
  }

  private func erasure(_ line: [UInt8]) -> Erasure? {
    guard line.count <= Self.lineLimit, let members = (try? JSON.parse(line))?.object,
      let user = members["user"]?.string.flatMap({ UserID($0) }),
      let position = members["position"]?.integer,
      let erasedAt = members["erasedAt"]?.string.flatMap({ Timestamp($0) })
    else { return nil }
    return Erasure(user: user, position: Position(position), erasedAt: erasedAt)
  }

  private func noErasure(_ line: Int) -> Failure {
    Failure(description: "\(path):\(line): this line is no erasure")
  }

  /// What is no regular file might block, now or at the first byte.
  private func refuseIrregular(_ file: Int32) throws(Failure) {
    var status = stat()
    guard fstat(file, &status) == 0 else { throw failure("read") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(description: "can't use \(path): it is no regular file")
    }
  }

  /// Takes the lock on a file; closing lets go of it.
  private func lock(
    _ file: Int32,
    _ operation: Int32,
    _ patience: Duration
  ) throws(Failure) {
    let deadline = Instant.now() + patience
    while flock(file, operation | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      guard errno == EWOULDBLOCK else { throw failure("lock") }
      guard Instant.now() < deadline else {
        throw Failure(description: "can't lock \(path): another process holds the lock on it")
      }
      usleep(Self.lockPause)
    }
  }

  private func write(_ bytes: [UInt8], to file: Int32) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw failure("write") }
      rest = rest.dropFirst(count)
    }
    guard fsync(file) == 0 else { throw failure("write") }
  }

  /// A new name is on the disk when its directory is.
  private static func syncDirectory(of path: String) {
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { return }
    fsync(file)
    close(file)
  }

  private func failure(_ verb: String) -> Failure {
    // A file that is missing is made or is none to read: what is not there is its directory.
    let reason =
      errno == ENOENT ? "its directory does not exist" : String(cString: strerror(errno))
    return Failure(description: "can't \(verb) \(path): \(reason)")
  }
}
