import CSodium

/// Signatures of RFC 8032.
public enum Ed25519 {
  /// Bytes of the secret that a key pair is made of.
  public static let seedCount = 32
  /// Bytes of a public key.
  public static let publicKeyCount = 32
  /// Bytes of a signature.
  public static let signatureCount = 64

  /// A key that signs.
  public struct PrivateKey: Sendable {
    private let expanded: [UInt8]
    /// The key that verifies what this one signs.
    public let publicKey: [UInt8]

    /// The key of `seed`; nil where it has not 32 bytes.
    public init?(seed: [UInt8]) {
      guard seed.count == seedCount else { return nil }
      Sodium.ready()
      var publicKey = [UInt8](repeating: 0, count: publicKeyCount)
      var expanded = [UInt8](repeating: 0, count: seedCount + publicKeyCount)
      crypto_sign_seed_keypair(&publicKey, &expanded, seed)
      self.publicKey = publicKey
      self.expanded = expanded
    }

    /// The signature of `message`; the same each time.
    public func sign(_ message: [UInt8]) -> [UInt8] {
      var signature = [UInt8](repeating: 0, count: signatureCount)
      crypto_sign_detached(&signature, nil, message, UInt64(message.count), expanded)
      return signature
    }
  }

  /// Whether `signature` is that of `message` under `publicKey`.
  public static func verify(
    _ signature: [UInt8],
    of message: [UInt8],
    publicKey: [UInt8]
  ) -> Bool {
    guard signature.count == signatureCount, publicKey.count == publicKeyCount else { return false }
    Sodium.ready()
    return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
  }
}
