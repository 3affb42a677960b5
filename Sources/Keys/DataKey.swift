import Sodium

/// The key of one user's payloads: 32 random bytes.
public struct DataKey: Sendable {
  /// The bytes.
  public let bytes: [UInt8]

  /// A new key.
  public init() { bytes = RandomBytes.make(SecretBox.keyCount) }

  /// The key with these bytes; nil for another number of bytes than 32.
  public init?(bytes: [UInt8]) {
    guard bytes.count == SecretBox.keyCount else { return nil }
    self.bytes = bytes
  }
}

/// A user's key as the database holds it: sealed by a master key.
public struct WrappedKey: Hashable, Sendable {
  /// The master key's number.
  public let masterKey: Int32
  /// Nonce and box.
  public let bytes: [UInt8]

  /// The key in these bytes, wrapped by this master key.
  public init(masterKey: Int32, bytes: [UInt8]) {
    self.masterKey = masterKey
    self.bytes = bytes
  }
}

/// Why a key can't be had.
public enum KeyError: Error, Hashable, CustomStringConvertible {
  /// The key file has no master key of this number: put it back.
  case unknownMasterKey(Int32)
  /// What is wrapped doesn't open: the key file has another key under this number, or the wrapped
  /// key is another user's, or was altered.
  case wrongMasterKey(Int32)
  /// The key file has another key under the number of the one in use.
  case otherMasterKey(Int32)
  /// The user has no key: it was destroyed.
  case destroyed

  /// For the operator.
  public var description: String {
    switch self {
    case .unknownMasterKey(let number): "the key file has no master key \(number)"
    case .wrongMasterKey(let number): "master key \(number) does not open the user's key"
    case .otherMasterKey(let number):
      "the key file's master key \(number) is not the one that this log has in use"
    case .destroyed: "the user's key is gone"
    }
  }
}
