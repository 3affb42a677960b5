public import Profiles
import Glibc
import Sodium
import Synchronization

/// The master keys of a log: opens and seals the keys of its users.
///
/// It reads the key file again when it meets a number that it doesn't know, so that a rotation needs
/// no restart. Keys that have left the file meanwhile stay known until the process ends.
public final class Keyring: Sendable {
  /// What the database says of the master key in use.
  public struct InUse: Sendable {
    /// Its number.
    public let number: Int32
    /// The log's secret, wrapped by it.
    public let wrappedSecret: [UInt8]

    /// The key of this number, which wraps this secret.
    public init(number: Int32, wrappedSecret: [UInt8]) {
      self.number = number
      self.wrappedSecret = wrappedSecret
    }
  }

  private struct State {
    var keys: [Int32: [UInt8]] = [:]
    var inUse: Int32 = 0
    var secret: [UInt8] = []
    var acceptsPlain = false
  }

  /// Numbers that were looked for in vain, and until when they are not looked for again, in seconds
  /// of the monotonic clock.
  private typealias Missed = [Int32: Int]

  /// Numbers that are remembered as missed, at most.
  private static let missedLimit = 1000

  /// Bytes of the secret.
  private static let secretCount = 32

  private let path: String?
  private let state = Mutex(State())
  private let missed = Mutex<Missed>([:])

  /// The keys of the file at `path`, which is read by `open`.
  public init(file path: String) {
    self.path = path
  }

  /// These keys alone, which no file has.
  public init(_ keys: MasterKeys, inUse: InUse) throws(KeyringError) {
    path = nil
    try open(keys, inUse)
  }

  /// Reads the file, for a log where `inUse` is in use; throws where that one is not in the file, or
  /// another one has its number.
  public func open(_ inUse: InUse) throws(KeyringError) {
    guard let path else { return }
    let keys: MasterKeys
    do {
      keys = try MasterKeys(file: path)
    } catch {
      throw .file(error)
    }
    try open(keys, inUse)
  }

  private func open(_ keys: MasterKeys, _ inUse: InUse) throws(KeyringError) {
    let (secret, isComplete) = try Self.secret(of: inUse, keys)
    state.withLock { state in
      for key in keys.keys { state.keys[key.number] = key.bytes }
      state.inUse = inUse.number
      state.secret = secret
      state.acceptsPlain = !isComplete
    }
  }

  /// Whether payloads that were written before there was sealing are read as they are: while the
  /// secret says that the log has some, which nobody can make it say without the master key.
  public var acceptsPlain: Bool { state.withLock { $0.acceptsPlain } }

  /// A secret for a log that has none yet, wrapped by the newest of `keys`; it says whether every
  /// payload of the log is sealed.
  public static func begin(_ keys: MasterKeys, isComplete: Bool) -> InUse {
    wrap(RandomBytes.make(secretCount), isComplete, by: keys.keys[keys.keys.count - 1])
  }

  /// The secret of `inUse`, wrapped by the newest of `keys`, which says what it has said.
  public static func renew(_ inUse: InUse, _ keys: MasterKeys) throws(KeyringError) -> InUse {
    let (secret, isComplete) = try secret(of: inUse, keys)
    return wrap(secret, isComplete, by: keys.keys[keys.keys.count - 1])
  }

  /// The secret of `inUse`, wrapped anew so that it says that every payload is sealed.
  public func complete(_ inUse: InUse) throws -> InUse {
    let master = MasterKeys.Key(number: inUse.number, bytes: try masterKey(inUse.number))
    let (secret, _) = try Self.open(inUse, master)
    return Self.wrap(secret, true, by: master)
  }

  private static func wrap(
    _ secret: [UInt8],
    _ isComplete: Bool,
    by key: MasterKeys.Key
  ) -> InUse {
    InUse(
      number: key.number,
      wrappedSecret: SecretBox.seal(
        secret,
        key: key.bytes,
        binding: secretBinding(key.number, isComplete)
      )
    )
  }

  /// What the secret is bound to; whether the log is sealed is told by which one it opens with.
  private static func secretBinding(_ number: Int32, _ isComplete: Bool) -> [UInt8] {
    binding("jejak.secret.v1", number) + [isComplete ? 1 : 0]
  }

  private static func secret(
    of inUse: InUse,
    _ keys: MasterKeys
  ) throws(KeyringError) -> (secret: [UInt8], isComplete: Bool) {
    guard let key = keys[inUse.number] else {
      throw .missing(inUse.number, among: keys.numbers)
    }
    return try open(inUse, MasterKeys.Key(number: inUse.number, bytes: key))
  }

  private static func open(
    _ inUse: InUse,
    _ key: MasterKeys.Key
  ) throws(KeyringError) -> (secret: [UInt8], isComplete: Bool) {
    for isComplete in [true, false] {
      let opened = SecretBox.open(
        inUse.wrappedSecret,
        key: key.bytes,
        binding: secretBinding(inUse.number, isComplete)
      )
      if let opened { return (opened, isComplete) }
    }
    throw .wrong(inUse.number)
  }

  /// A code that only holders of a master key of this log can compute; `purpose` tells uses apart.
  ///
  /// Nil until the keyring has been opened.
  public func code(of bytes: [UInt8], for purpose: String) -> [UInt8]? {
    let secret = state.withLock { $0.secret }
    guard !secret.isEmpty else { return nil }
    var message: [UInt8] = []
    append(UInt32(purpose.utf8.count), to: &message)
    message += purpose.utf8
    return HMAC.code(of: message + bytes, key: secret)
  }

  /// The key of `user`.
  public func unwrap(_ wrapped: WrappedKey, of user: UserID) throws(KeyError) -> DataKey {
    let master = try masterKey(wrapped.masterKey)
    let opened = SecretBox.open(
      wrapped.bytes,
      key: master,
      binding: Self.binding("jejak.userkey.v1", wrapped.masterKey, user)
    )
    guard let key = opened.flatMap(DataKey.init(bytes:)) else {
      throw .wrongMasterKey(wrapped.masterKey)
    }
    return key
  }

  /// The key of `user`, wrapped by the master key in use.
  public func wrap(_ key: DataKey, for user: UserID) throws(KeyError) -> WrappedKey {
    let (number, master) = state.withLock { ($0.inUse, $0.keys[$0.inUse]) }
    guard let master else { throw .unknownMasterKey(number) }
    return WrappedKey(
      masterKey: number,
      bytes: SecretBox.seal(
        key.bytes,
        key: master,
        binding: Self.binding("jejak.userkey.v1", number, user)
      )
    )
  }

  /// The master key in use.
  public var inUse: Int32 { state.withLock { $0.inUse } }

  /// Takes another master key into use, as the database says.
  public func use(_ number: Int32) throws(KeyError) {
    _ = try masterKey(number)
    state.withLock { $0.inUse = number }
  }

  private func masterKey(_ number: Int32) throws(KeyError) -> [UInt8] {
    guard let key = known(number) ?? look(for: number) else { throw .unknownMasterKey(number) }
    return key
  }

  private func known(_ number: Int32) -> [UInt8]? { state.withLock { $0.keys[number] } }

  /// Looks into the file for a number, once a second at most: a key that is nowhere must not cost a
  /// read for each event.
  ///
  /// Who comes meanwhile waits for what is found.
  private func look(for number: Int32) -> [UInt8]? {
    guard let path else { return nil }
    return missed.withLock { missed in
      if let key = known(number) { return key }
      var now = timespec()
      clock_gettime(CLOCK_MONOTONIC, &now)
      guard now.tv_sec >= missed[number, default: 0],
        let keys = try? MasterKeys(file: path)
      else { return nil }
      state.withLock { state in
        for key in keys.keys where state.keys[key.number] == nil {
          state.keys[key.number] = key.bytes
        }
      }
      let key = known(number)
      if missed.count >= Self.missedLimit { missed = [:] }
      missed[number] = key == nil ? now.tv_sec + 1 : nil
      return key
    }
  }

  /// What is wrapped: a purpose, none of which begins with another, then parts of fixed width.
  private static func binding(_ purpose: String, _ number: Int32, _ user: UserID? = nil) -> [UInt8]
  {
    var bytes = Array(purpose.utf8)
    append(UInt32(bitPattern: number), to: &bytes)
    if let user { bytes += user.bytes }
    return bytes
  }
}

private func append(_ number: UInt32, to bytes: inout [UInt8]) {
  withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
}

/// Why a log can't be worked with for want of its master key.
public enum KeyringError: Error, Equatable, CustomStringConvertible {
  /// The key file gives no keys.
  case file(KeyFileError)
  /// The master key in use is not among those of the file.
  case missing(Int32, among: [Int32])
  /// The file has another key under the number of the one in use.
  case wrong(Int32)

  /// For the operator.
  public var description: String {
    switch self {
    case .file(let error): error.description
    case .missing(let number, let numbers):
      "master key \(number) is in use, and the key file has only "
        + numbers.map(\.description).joined(separator: ", ")
    case .wrong(let number):
      "the key file's master key \(number) is not the one that this log was sealed with"
    }
  }
}
