import Sodium
import Testing

@Suite("HMAC-SHA-256")
struct HMACTests {
  /// RFC 4231 has keys of other lengths, which are padded with zeros as short ones are.
  @Test(
    arguments: [
      (
        Array(repeating: 0x0b, count: 20), Array("Hi There".utf8),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
    ] as [([UInt8], [UInt8], String)]
  )
  func `is what RFC 4231 says`(key: [UInt8], message: [UInt8], code: String) {
    let padded = key + Array(repeating: 0, count: HMAC.keyCount - key.count)
    let made = HMAC.code(of: message, key: padded).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
    #expect(made == code)
  }
}
