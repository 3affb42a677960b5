import Clocks
import EventLog
import Glibc
import JSON
import Profiles

/// The list of erasures outside the database, which tells a restored backup whom it must not hold.
///
/// A line of JSON for each: `{"user":"…","position":12,"erasedAt":"…"}`. Lines are only added, each
/// is on the disk when `add` returns, and several processes may share the file. A line that was cut
/// short by a kill is taken off by the next one that is added.
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

  /// All that is listed, in the order of the lines; nothing where there is no file.
  public func read() throws(Failure) -> [Erasure] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return [] }
      throw failure("read")
    }
    defer { _ = close(file) }
    return try parse(whole(file))
  }

  /// Adds those of `erasures` whose users are not listed yet; how many that were.
  @discardableResult
  public func add(_ erasures: [Erasure]) throws(Failure) -> Int {
    let isNew = !exists
    // Nobody else's business, though there are no names in it.
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("write") }
    defer { _ = close(file) }
    guard flock(file, LOCK_EX) == 0 else { throw failure("lock") }
    let text = try whole(file)
    let end = text.lastIndex(of: Self.newline).map { $0 + 1 } ?? 0
    var listed = Set(try parse(text).map(\.user))
    let new = erasures.filter { listed.insert($0.user).inserted }
    guard !new.isEmpty else { return 0 }
    guard ftruncate(file, off_t(end)) == 0, lseek(file, 0, SEEK_END) >= 0 else {
      throw failure("write")
    }
    try write(new.flatMap(Self.line), to: file)
    if isNew { Self.syncDirectory(of: path) }
    return new.count
  }

  /// Puts `erasures` in the place of whatever the file held, all or nothing.
  public func replace(with erasures: [Erasure]) throws(Failure) {
    let draft = ErasureList(path: "\(path).\(getpid())")
    let file = open(draft.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("write") }
    defer { _ = close(file) }
    do throws(Failure) {
      try write(erasures.flatMap(Self.line), to: file)
      guard rename(draft.path, path) == 0 else { throw failure("replace") }
    } catch {
      unlink(draft.path)
      throw error
    }
    Self.syncDirectory(of: path)
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

  private func parse(_ text: [UInt8]) throws(Failure) -> [Erasure] {
    var erasures: [Erasure] = []
    let lines = text.split(separator: Self.newline, omittingEmptySubsequences: false)
    // Behind the last line break is nothing, or what was cut short.
    for (number, line) in lines.dropLast().enumerated() where !line.isEmpty {
      guard let members = (try? JSON.parse(Array(line)))?.object,
        let user = members["user"]?.string.flatMap({ UserID($0) }),
        let position = members["position"]?.integer,
        let erasedAt = members["erasedAt"]?.string.flatMap({ Timestamp($0) })
      else { throw Failure(description: "\(path):\(number + 1): this line is no erasure") }
      erasures.append(Erasure(user: user, position: Position(position), erasedAt: erasedAt))
    }
    return erasures
  }

  private func whole(_ file: Int32) throws(Failure) -> [UInt8] {
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(file, &piece, piece.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw failure("read") }
      if count == 0 { return text }
      text += piece[..<count]
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
