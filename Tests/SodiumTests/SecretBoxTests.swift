import Sodium
import Testing

@Suite("A secret box")
struct SecretBoxTests {
  let key = RandomBytes.make(SecretBox.keyCount)

  @Test(arguments: [0, 1, 15, 16, 17, 10_000])
  func `opens under its key`(count: Int) {
    let bytes = RandomBytes.make(count)
    let sealed = SecretBox.seal(bytes, key: key)
    #expect(sealed.count == count + 40)
    #expect(SecretBox.open(sealed, key: key) == bytes)
  }

  @Test func `is another each time`() {
    #expect(SecretBox.seal([1, 2, 3], key: key) != SecretBox.seal([1, 2, 3], key: key))
  }

  @Test func `doesn't open under another key, or one of another length`() {
    let sealed = SecretBox.seal([1, 2, 3], key: key)
    var other = key
    other[31] ^= 1
    #expect(SecretBox.open(sealed, key: other) == nil)
    #expect(SecretBox.open(sealed, key: []) == nil)
    #expect(SecretBox.open(sealed, key: key + [0]) == nil)
  }

  @Test func `opens with the binding that it was sealed with alone`() {
    let sealed = SecretBox.seal([1, 2, 3], key: key, binding: [7, 8])
    #expect(SecretBox.open(sealed, key: key, binding: [7, 8]) == [1, 2, 3])
    for binding in [[], [7], [8, 7], [7, 8, 0]] as [[UInt8]] {
      #expect(SecretBox.open(sealed, key: key, binding: binding) == nil)
    }
    let prefixed = SecretBox.seal([1, 2, 3], key: key, binding: [7, 8], prefix: 9)
    #expect(prefixed.first == 9)
    #expect(SecretBox.open(prefixed.dropFirst(), key: key, binding: [7, 8]) == [1, 2, 3])
    #expect(SecretBox.open(prefixed, key: key, binding: [7, 8]) == nil)
  }

  /// The example of draft-irtf-cfrg-xchacha-03, A.3.1.
  @Test func `is what the draft says`() {
    let text = Array(
      ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the "
        + "future, sunscreen would be it.").utf8
    )
    let binding: [UInt8] = [
      0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
    ]
    let nonce = (0x40...0x57).map { UInt8($0) }
    let box = bytes(
      """
      bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e\
      39ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3\
      fff921f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49
      """
    )
    let key = (0x80...0x9f).map { UInt8($0) }
    #expect(SecretBox.open(nonce + box, key: key, binding: binding) == text)
  }

  private func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  @Test func `doesn't open once any bit was changed, or the end is missing`() {
    let sealed = SecretBox.seal(Array("profile".utf8), key: key)
    for index in sealed.indices {
      var tampered = sealed
      tampered[index] ^= 0x10
      #expect(SecretBox.open(tampered, key: key) == nil)
      #expect(SecretBox.open(Array(sealed[..<index]), key: key) == nil)
    }
  }
}

@Suite("Random bytes")
struct RandomBytesTests {
  @Test func `are as many as asked for, and never the same`() {
    #expect(RandomBytes.make(0) == [])
    let made = (0..<100).map { _ in RandomBytes.make(32) }
    #expect(Set(made).count == 100)
    #expect(made.allSatisfy { $0.count == 32 })
  }
}
