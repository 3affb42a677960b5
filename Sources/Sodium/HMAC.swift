import CSodium

/// HMAC-SHA-256 (RFC 2104): what only holders of the key can compute.
public enum HMAC {
  /// Bytes of a key.
  public static let keyCount = 32

  /// The 32 bytes for `bytes` under `key`, which has 32 bytes.
  public static func code(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    Sodium.ready()
    precondition(key.count == keyCount, "a key has 32 bytes")
    var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
    crypto_auth_hmacsha256(&code, bytes, UInt64(bytes.count), key)
    return code
  }
}
