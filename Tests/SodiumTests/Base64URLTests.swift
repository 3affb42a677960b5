import Sodium
import Testing

@Suite("Base64url")
struct Base64URLTests {
  /// RFC 4648 section 10, without the padding.
  @Test(arguments: [
    ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
    ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
  ])
  func `gives the RFC's vectors, both ways`(plain: String, encoded: String) {
    #expect(Base64URL.encode(Array(plain.utf8)) == encoded)
    #expect(Base64URL.decode(encoded) == Array(plain.utf8))
  }

  @Test func `uses the alphabet for URLs`() {
    #expect(Base64URL.encode([0xfb, 0xff]) == "-_8")
    #expect(Base64URL.decode("-_8") == [0xfb, 0xff])
  }

  @Test(arguments: 0..<70)
  func `brings any bytes back`(count: Int) {
    let bytes = RandomBytes.make(count)
    #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
  }

  @Test(arguments: ["Zg==", "Zg=", "Z", "+/8", "Zm 9v", "Zm9v\n", "Zh", "é", "Zm\u{0}9"])
  func `refuses other text, padding and loose bits`(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }
}

@Suite("Base64")
struct Base64Tests {
  /// RFC 4648 section 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func `gives the RFC's vectors, both ways`(plain: String, encoded: String) {
    #expect(Base64.encode(Array(plain.utf8)) == encoded)
    #expect(Base64.decode(encoded) == Array(plain.utf8))
  }

  @Test(arguments: ["Zg", "Zg=", "Zg===", "-_8=", "Zm9v\n", "Zh==", "Zm8=Zm8=", "="])
  func `refuses other text, missing padding and loose bits`(text: String) {
    #expect(Base64.decode(text) == nil)
  }
}
