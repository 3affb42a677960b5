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
