import Sodium
import Testing

private func hexadecimal(_ bytes: [UInt8]) -> String {
  bytes.map { byte in
    let text = String(byte, radix: 16)
    return text.count == 1 ? "0" + text : text
  }.joined()
}

@Suite("SHA-256")
struct SHA256Tests {
  /// The examples of FIPS 180-4, as NIST publishes them, and the empty message.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      String(repeating: "a", count: 1_000_000),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
  ])
  func `gives the known answers`(message: String, digest: String) {
    #expect(hexadecimal(SHA256.digest(of: message.utf8)) == digest)
  }

  @Test func `takes any sequence of bytes for the same`() {
    let bytes: [UInt8] = [0, 1, 2, 255]
    #expect(SHA256.digest(of: bytes[1...]) == SHA256.digest(of: Array(bytes[1...])))
    #expect(SHA256.digest(of: bytes).count == SHA256.byteCount)
  }

  @Test(arguments: 0..<130)
  func `takes bytes in parts for the same, and as a value`(count: Int) throws {
    let bytes = RandomBytes.make(count)
    let digest = SHA256.digest(of: bytes)
    var context = SHA256.Context()
    for byte in bytes.prefix(3) { context.update(byte) }
    bytes.dropFirst(3).withUnsafeBytes { context.update($0) }
    let value = context.finish()
    #expect(value.bytes == digest)
    #expect(bytes.withUnsafeBytes { SHA256.value(of: $0) } == value)
    #expect(SHA256.Digest(digest) == value)
    #expect(SHA256.Digest(digest.dropLast()) == nil)
    #expect(SHA256.Digest(digest.reversed()) != value)
  }
}

@Suite("A password's hash")
struct PasswordHashTests {
  @Test func `is a PHC string of Argon2id with a fresh salt`() throws {
    let first = try #require(PasswordHash.make(Array("tea with Babbage".utf8)))
    let second = try #require(PasswordHash.make(Array("tea with Babbage".utf8)))
    #expect(first.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
    #expect(first.split(separator: "$").count == 5)
    #expect(first != second)
  }

  @Test func `is verified with that password alone`() throws {
    let password = Array("tea with Babbage".utf8)
    let hash = try #require(PasswordHash.make(password))
    #expect(PasswordHash.verify(password, against: hash))
    #expect(!PasswordHash.verify(Array("tea with babbage".utf8), against: hash))
    #expect(!PasswordHash.verify([], against: hash))
    #expect(!PasswordHash.verify(password + [0], against: hash))
  }

  @Test(arguments: [
    ("m=19456", "m=4194304"), ("t=2", "t=4294967295"), ("t=2", "t=9"), ("p=1", "p=2"),
    ("m=19456", "m=-8"), ("t=2", "t=2,t=2"), ("argon2id$", "argon2i$"), ("v=19", "v=16"),
  ])
  func `that costs too much verifies nothing, and takes no time`(old: String, new: String) throws {
    let password = Array("tea with Babbage".utf8)
    let hash = try #require(PasswordHash.make(password))
    let parts = hash.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
    // With t=4294967295 it would take days.
    #expect(!PasswordHash.verify(password, against: parts.joined(separator: new)))
  }

  @Test func `tells passwords apart that differ behind a NUL`() throws {
    let hash = try #require(PasswordHash.make(Array("secret\0one".utf8)))
    #expect(PasswordHash.verify(Array("secret\0one".utf8), against: hash))
    #expect(!PasswordHash.verify(Array("secret\0two".utf8), against: hash))
    #expect(!PasswordHash.verify(Array("secret".utf8), against: hash))
  }

  @Test(arguments: ["", "$argon2id$", "plain", "$argon2id$v=19$m=19456,t=2,p=1$AAAA$AAAA"])
  func `that is none verifies nothing`(text: String) {
    #expect(!PasswordHash.verify(Array("plain".utf8), against: text))
  }

  @Test func `may be of no bytes`() throws {
    let hash = try #require(PasswordHash.make([]))
    #expect(PasswordHash.verify([], against: hash))
    #expect(!PasswordHash.verify([0], against: hash))
  }
}
