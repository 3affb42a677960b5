import CSodium

/// Base64 with padding (RFC 4648 section 4).
public enum Base64 {
  /// The text of `bytes`.
  public static func encode(_ bytes: [UInt8]) -> String {
    Base64Variant.standard.encode(bytes)
  }

  /// The bytes of `text`; nil where it is not the one text of any bytes.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    Base64Variant.standard.decode(text)
  }
}

/// Base64 with the alphabet that is safe in URLs, without padding (RFC 4648 section 5).
public enum Base64URL {
  /// The text of `bytes`.
  public static func encode(_ bytes: [UInt8]) -> String {
    Base64Variant.url.encode(bytes)
  }

  /// The bytes of `text`; nil where it is no such text.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    Base64Variant.url.decode(text)
  }
}

/// An alphabet and a rule of padding, by libsodium's number.
private struct Base64Variant {
  static let standard = Base64Variant(number: Int32(sodium_base64_VARIANT_ORIGINAL))
  static let url = Base64Variant(number: Int32(sodium_base64_VARIANT_URLSAFE_NO_PADDING))

  let number: Int32

  func encode(_ bytes: [UInt8]) -> String {
    Sodium.ready()
    // The length counts the terminating NUL.
    var text = [CChar](repeating: 0, count: sodium_base64_encoded_len(bytes.count, number))
    sodium_bin2base64(&text, text.count, bytes, bytes.count, number)
    return String(decoding: text.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  func decode(_ text: some StringProtocol) -> [UInt8]? {
    Sodium.ready()
    let characters = text.utf8.map(CChar.init(bitPattern:))
    var bytes = [UInt8](repeating: 0, count: characters.count * 3 / 4 + 1)
    var count = 0
    let status = sodium_base642bin(
      &bytes,
      bytes.count,
      characters,
      characters.count,
      nil,
      &count,
      nil,
      number
    )
    return status == 0 ? Array(bytes.prefix(count)) : nil
  }
}
