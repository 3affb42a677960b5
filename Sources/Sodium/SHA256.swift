import CSodium

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
  /// The 32 bytes of a digest.
  public static let byteCount = 32

  /// The digest of `bytes`.
  public static func digest(of bytes: some Sequence<UInt8>) -> [UInt8] {
    digest(ofArray: Array(bytes))
  }

  private static func digest(ofArray bytes: [UInt8]) -> [UInt8] {
    Sodium.ready()
    var digest = [UInt8](repeating: 0, count: byteCount)
    crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
    return digest
  }
}
