public import Files
import Sodium

/// The master keys of a key file, by their numbers.
///
/// The file has a line for each key: its number, a space, and its 32 bytes as Base64url. Lines that
/// begin with `#` are comments.
public struct MasterKeys: Sendable {
  /// The key with a number.
  struct Key: Sendable {
    let number: Int32
    let bytes: [UInt8]
  }

  /// Keys of a file at most.
  public static let limit = 1000

  /// In the order of their numbers.
  private(set) var keys: [Key]

  /// One new key, number 1.
  public init() {
    keys = [Key(number: 1, bytes: RandomBytes.make(SecretBox.keyCount))]
  }

  /// The keys of the file at `path`.
  public init(file path: String) throws(KeyFileError) {
    let bytes: [UInt8]
    do {
      bytes = try SmallFile.read(path, for: .owner)
    } catch {
      throw .file(error)
    }
    try self.init(text: String(decoding: bytes, as: UTF8.self), path: path)
  }

  init(text: String, path: String) throws(KeyFileError) {
    var keys: [Key] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let words = line.split { $0 == " " || $0 == "\t" }
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      // The line itself is never told: it is the secret.
      guard words.count == 2, let number = Int32(first), number > 0,
        let bytes = Base64URL.decode(words[1]), bytes.count == SecretBox.keyCount
      else { throw .line(path, index + 1, "expected a number and a key") }
      guard !keys.contains(where: { $0.number == number }) else {
        throw .line(path, index + 1, "key \(number) is there twice")
      }
      keys.append(Key(number: number, bytes: bytes))
    }
    guard !keys.isEmpty else { throw .empty(path) }
    guard keys.count <= Self.limit else { throw .tooMany(path) }
    self.keys = keys.sorted { $0.number < $1.number }
  }

  /// The numbers, the highest last.
  public var numbers: [Int32] { keys.map(\.number) }

  /// The highest number: the newest key.
  public var newest: Int32 { keys[keys.count - 1].number }

  /// The number that the next key gets; nil after the highest there is.
  public var next: Int32? { newest < .max ? newest + 1 : nil }

  /// Adds a new key under the next number, which it returns; nil where there is none.
  public mutating func add() -> Int32? {
    guard let number = next else { return nil }
    keys.append(Key(number: number, bytes: RandomBytes.make(SecretBox.keyCount)))
    return number
  }

  /// Adds a new key to the file at `path`; all keys that it has then.
  public static func add(to path: String) throws -> MasterKeys {
    try SmallFile.alone(with: path) { () throws -> MasterKeys in
      var keys = try MasterKeys(file: path)
      guard keys.numbers.count < limit else { throw KeyFileError.full(path, "\(limit) keys") }
      guard keys.add() != nil else { throw KeyFileError.hasNoNext(after: keys.newest, path) }
      try SmallFile.replace(path, Array(keys.text.utf8), for: .owner)
      return keys
    }
  }

  /// The text of a key file.
  public var text: String {
    """
    # Master keys of a jejak log: number and key. Whoever has this file and the database can read
    # everything; without it nobody can read anything. Keep a copy where no backup of the database is.

    """ + keys.map { "\($0.number) \(Base64URL.encode($0.bytes))\n" }.joined()
  }

  subscript(number: Int32) -> [UInt8]? { keys.first { $0.number == number }?.bytes }
}

/// Why a key file gives no master keys.
public enum KeyFileError: Error, Equatable, CustomStringConvertible {
  /// The file can't be used.
  case file(SmallFileError)
  /// A line can't be read: the path, the line's number, and what is wrong.
  case line(String, Int, String)
  /// There is no key in it.
  case empty(String)
  /// There are more keys than `MasterKeys.limit`.
  case tooMany(String)
  /// No key can be added: the path, and what it has already.
  case full(String, String)

  /// What to do where there is no key: a new one can't stand for one that was lost.
  public static let advice =
    "for a log that exists put your copy of it back, for a new one make it with jejak key generate"

  /// There is no number for another key.
  public static func hasNoNext(after newest: Int32, _ path: String) -> KeyFileError {
    .full(path, "key \(newest), the highest number")
  }

  /// For the operator, without a key.
  public var description: String {
    switch self {
    case .file(.missing(let path)): "there is no file \(path) with master keys: \(Self.advice)"
    case .file(let error): error.description
    case .line(let path, let line, let reason): "\(path):\(line): \(reason)"
    case .empty(let path): "\(path) has no master key: \(Self.advice)"
    case .tooMany(let path): "\(path) has more than \(MasterKeys.limit) keys"
    case .full(let path, let what): "\(path) takes no other key: it has \(what)"
    }
  }
}
