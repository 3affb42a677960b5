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
    /// The numbers whose keys have opened the log's secret.
    var proven: Set<Int32> = []
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
  private let isInDoubt = Atomic(false)

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
    try open(Self.read(path), inUse)
  }

  private static func read(_ path: String) throws(KeyringError) -> MasterKeys {
    do {
      return try MasterKeys(file: path)
    } catch {
      throw .file(error)
    }
  }

  private func open(_ keys: MasterKeys, _ inUse: InUse) throws(KeyringError) {
    let (secret, isComplete) = try Self.secret(of: inUse, keys)
    state.withLock { state in
      for key in keys.keys { state.keys[key.number] = key.bytes }
      state.inUse = inUse.number
      state.proven.insert(inUse.number)
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

  /// Throws unless the key in use is among `keys`.
  public static func check(_ keys: MasterKeys, _ inUse: InUse) throws(KeyringError) {
    _ = try secret(of: inUse, keys)
  }

  /// Whether one of `keys` opens the key of `user`.
  public static func opens(_ wrapped: WrappedKey, of user: UserID, _ keys: MasterKeys) -> Bool {
    keys[wrapped.masterKey].map { open(wrapped, of: user, $0) != nil } ?? false
  }

  private static func open(_ wrapped: WrappedKey, of user: UserID, _ key: [UInt8]) -> DataKey? {
    SecretBox.open(
      wrapped.bytes,
      key: key,
      binding: binding("jejak.userkey.v1", wrapped.masterKey, user)
    ).flatMap(DataKey.init(bytes:))
  }

  /// How the key file, and what is known of it, stand to the key in use.
  public enum Standing: Equatable, Sendable {
    /// The file has the key in use.
    case good
    /// The file lacks it; this process knows it until it ends.
    case remembered(KeyringError)
    /// Neither the file has it, nor does this process know it.
    case unknown(KeyringError)
  }

  /// Reads the file, and learns what it has: above all the key in use, even where another one was
  /// known under its number.
  public func check(_ inUse: InUse) -> Standing {
    guard let path else { return .good }
    do throws(KeyringError) {
      let keys = try Self.read(path)
      try Self.check(keys, inUse)
      state.withLock { state in
        for key in keys.keys where key.number == inUse.number || state.keys[key.number] == nil {
          state.keys[key.number] = key.bytes
        }
        state.proven.insert(inUse.number)
      }
      return .good
    } catch {
      return knows(inUse) ? .remembered(error) : .unknown(error)
    }
  }

  /// Whether a key was asked for in vain since this was last asked: a reason to `check`.
  public func takeDoubt() -> Bool { isInDoubt.exchange(false, ordering: .acquiringAndReleasing) }

  private func knows(_ inUse: InUse) -> Bool {
    let (key, isProven) = state.withLock { state in
      (state.keys[inUse.number], state.proven.contains(inUse.number))
    }
    guard let key else { return false }
    return isProven
      || (try? Self.open(inUse, MasterKeys.Key(number: inUse.number, bytes: key))) != nil
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
    guard let key = Self.open(wrapped, of: user, master) else {
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

  /// The master keys that are known.
  public var numbers: [Int32] { state.withLock { $0.keys.keys.sorted() } }

  /// The master key in use.
  public var inUse: Int32 { state.withLock { $0.inUse } }

  /// Takes another master key into use, as the database says; not one that only has its number.
  public func use(_ inUse: InUse) throws(KeyError) {
    _ = try masterKey(inUse.number)
    guard knows(inUse) else {
      isInDoubt.store(true, ordering: .releasing)
      throw .otherMasterKey(inUse.number)
    }
    state.withLock { state in
      state.inUse = inUse.number
      state.proven.insert(inUse.number)
    }
  }

  private func masterKey(_ number: Int32) throws(KeyError) -> [UInt8] {
    if let key = known(number) ?? look(for: number) { return key }
    isInDoubt.store(true, ordering: .releasing)
    throw .unknownMasterKey(number)
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

  /// A word for programs.
  public var code: String {
    switch self {
    case .file: "key-file-unusable"
    case .missing: "master-key-missing"
    case .wrong: "master-key-differs"
    }
  }

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
