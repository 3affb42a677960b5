import Sodium
import Testing

@Suite("Ed25519")
struct Ed25519Tests {
  /// RFC 8032, section 7.1, tests 1 and 3, in base64.
  @Test(arguments: [
    (
      "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=",
      "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", [],
      "5VZDAMNgrHKQhuLMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc+bRr0lv18FlbviRlUUFDjnoQCw=="
    ),
    (
      "xaqN9D+fg3vtt0QvMdy3sWbThTUHbwlLhc46LgtEWPc=",
      "/FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU=", [0xAF, 0x82],
      "YpHWV97sJAJIJ+acOr4BowzlSKKEdDpEXjaA19taw6wY/5tTjRbykK5n92CYTcZZSnwV6XFu0o3AJ77O6h7ECg=="
    ),
  ])
  func `gives the RFC's signatures`(
    seed: String,
    publicKey: String,
    message: [UInt8],
    signature: String
  ) throws {
    let key = try #require(Ed25519.PrivateKey(seed: Base64.decode(seed) ?? []))
    #expect(Base64.encode(key.publicKey) == publicKey)
    let signed = key.sign(message)
    #expect(Base64.encode(signed) == signature)
    #expect(Ed25519.verify(signed, of: message, publicKey: key.publicKey))
    #expect(!Ed25519.verify(signed, of: message + [0], publicKey: key.publicKey))
    var wrong = signed
    wrong[0] ^= 1
    #expect(!Ed25519.verify(wrong, of: message, publicKey: key.publicKey))
  }

  @Test func `takes no key or signature of another length`() throws {
    #expect(Ed25519.PrivateKey(seed: [1]) == nil)
    let key = try #require(Ed25519.PrivateKey(seed: RandomBytes.make(32)))
    #expect(!Ed25519.verify([], of: [], publicKey: key.publicKey))
    #expect(!Ed25519.verify(key.sign([]) + [0], of: [], publicKey: key.publicKey))
    #expect(!Ed25519.verify(key.sign([]), of: [], publicKey: []))
  }
}
