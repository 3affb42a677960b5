import CSodium

/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) with a random nonce in front of the sealed bytes.
public enum SecretBox {
  /// Bytes of a key.
  public static let keyCount = 32

  private static let nonceCount = 24
  private static let tagCount = 16

  /// Seals `bytes` under `key`, which has 32 bytes; `prefix` stands in front of nonce and box.
  ///
  /// What is sealed opens with the same `binding` alone: bytes that say what it belongs to, and that
  /// are not part of it.
  public static func seal(
    _ bytes: [UInt8],
    key: [UInt8],
    binding: [UInt8] = [],
    prefix: UInt8? = nil
  ) -> [UInt8] {
    Sodium.ready()
    precondition(key.count == keyCount, "a key has 32 bytes")
    let start = prefix == nil ? 0 : 1
    let count = start + nonceCount + bytes.count + tagCount
    return [UInt8](unsafeUninitializedCapacity: count) { sealed, initialized in
      sealed.initialize(repeating: 0)
      // The capacity is more than nothing, so there is an address.
      let nonce = sealed.baseAddress.unsafelyUnwrapped + start
      if let prefix { sealed[0] = prefix }
      randombytes_buf(nonce, nonceCount)
      crypto_aead_xchacha20poly1305_ietf_encrypt(
        nonce + nonceCount,
        nil,
        bytes,
        UInt64(bytes.count),
        binding,
        UInt64(binding.count),
        nil,
        nonce,
        key
      )
      initialized = count
    }
  }

  /// Opens what `seal` made, without its prefix, under the same key and binding; nil for anything
  /// else.
  public static func open(
    _ sealed: some Sequence<UInt8>,
    key: [UInt8],
    binding: [UInt8] = []
  ) -> [UInt8]? {
    Sodium.ready()
    let opened = sealed.withContiguousStorageIfAvailable { open($0, key, binding) }
    return opened ?? Array(sealed).withUnsafeBufferPointer { open($0, key, binding) }
  }

  private static func open(
    _ sealed: UnsafeBufferPointer<UInt8>,
    _ key: [UInt8],
    _ binding: [UInt8]
  ) -> [UInt8]? {
    guard key.count == keyCount, sealed.count >= nonceCount + tagCount,
      let nonce = sealed.baseAddress
    else { return nil }
    let boxCount = sealed.count - nonceCount
    var status: Int32 = -1
    let bytes = [UInt8](unsafeUninitializedCapacity: boxCount) { bytes, initialized in
      bytes.initialize(repeating: 0)
      status = crypto_aead_xchacha20poly1305_ietf_decrypt(
        bytes.baseAddress,
        nil,
        nil,
        nonce + nonceCount,
        UInt64(boxCount),
        binding,
        UInt64(binding.count),
        nonce,
        key
      )
      initialized = boxCount - tagCount
    }
    return status == 0 ? bytes : nil
  }
}
