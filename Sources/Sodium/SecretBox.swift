import CSodium

/// XChaCha20-Poly1305 with a random nonce in front of the sealed bytes.
public enum SecretBox {
  /// Bytes of a key.
  public static let keyCount = 32

  private static let nonceCount = 24
  private static let tagCount = 16

  /// Seals `bytes` under `key`, which has 32 bytes.
  public static func seal(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    Sodium.ready()
    precondition(key.count == keyCount, "a key has 32 bytes")
    let nonce = RandomBytes.make(nonceCount)
    var box = [UInt8](repeating: 0, count: bytes.count + tagCount)
    crypto_aead_xchacha20poly1305_ietf_encrypt(
      &box,
      nil,
      bytes,
      UInt64(bytes.count),
      nil,
      0,
      nil,
      nonce,
      key
    )
    return nonce + box
  }

  /// Opens what `seal` made under the same key; nil for anything else.
  public static func open(_ sealed: [UInt8], key: [UInt8]) -> [UInt8]? {
    Sodium.ready()
    guard key.count == keyCount, sealed.count >= nonceCount + tagCount else { return nil }
    let nonce = Array(sealed.prefix(nonceCount))
    let box = Array(sealed.dropFirst(nonceCount))
    var bytes = [UInt8](repeating: 0, count: box.count - tagCount)
    let status = crypto_aead_xchacha20poly1305_ietf_decrypt(
      &bytes,
      nil,
      nil,
      box,
      UInt64(box.count),
      nil,
      0,
      nonce,
      key
    )
    return status == 0 ? bytes : nil
  }
}
