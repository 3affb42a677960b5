import Clocks
import Files
import Foundation
import Profiles
import Sodium
import Testing

@testable import Keys

@Suite("A keyring")
struct KeyringTests {
  private let ada = UserID(high: 1, low: 2)
  private let charles = UserID(high: 1, low: 3)

  @Test func `opens what it has wrapped, for that user and under that key alone`() throws {
    let keys = MasterKeys()
    let keyring = try Keyring(keys, inUse: Keyring.begin(keys, isComplete: true))
    let key = DataKey()
    let wrapped = try keyring.wrap(key, for: ada)
    #expect(wrapped.masterKey == 1)
    #expect(wrapped.bytes.count == 24 + 32 + 16)
    #expect(try keyring.unwrap(wrapped, of: ada).bytes == key.bytes)
    #expect(throws: KeyError.wrongMasterKey(1)) { try keyring.unwrap(wrapped, of: charles) }
    let renumbered = WrappedKey(masterKey: 2, bytes: wrapped.bytes)
    #expect(throws: KeyError.unknownMasterKey(2)) { try keyring.unwrap(renumbered, of: ada) }
    for index in wrapped.bytes.indices {
      var bytes = wrapped.bytes
      bytes[index] ^= 1
      #expect(throws: KeyError.wrongMasterKey(1)) {
        try keyring.unwrap(WrappedKey(masterKey: 1, bytes: bytes), of: ada)
      }
    }
  }

  @Test func `doesn't open under the same key with another number`() throws {
    let keys = MasterKeys()
    let wrapped = try Keyring(keys, inUse: Keyring.begin(keys, isComplete: true)).wrap(
      DataKey(),
      for: ada
    )
    let again = try MasterKeys(
      text: keys.text
        + keys.text.split(separator: "\n").filter { $0.hasPrefix("1 ") }
        .map { "2" + $0.dropFirst() }.joined(),
      path: "f"
    )
    let keyring = try Keyring(again, inUse: Keyring.begin(keys, isComplete: true))
    #expect(try keyring.unwrap(wrapped, of: ada).bytes.count == 32)
    #expect(throws: KeyError.wrongMasterKey(2)) {
      try keyring.unwrap(WrappedKey(masterKey: 2, bytes: wrapped.bytes), of: ada)
    }
  }

  @Test func `is refused without the key in use, or with another under its number`() throws {
    let (keys, others) = (MasterKeys(), MasterKeys())
    var more = keys
    _ = more.add()
    let inUse = Keyring.begin(more, isComplete: true)
    #expect(inUse.number == 2)
    #expect(throws: KeyringError.missing(2, among: [1])) { try Keyring(keys, inUse: inUse) }
    let error = #expect(throws: KeyringError.self) {
      try Keyring(others, inUse: Keyring.begin(keys, isComplete: true))
    }
    #expect(error == .wrong(1))
    _ = try Keyring(more, inUse: inUse)
  }

  @Test func `keeps the log's secret through a rotation`() throws {
    var keys = MasterKeys()
    let first = Keyring.begin(keys, isComplete: true)
    let before = try Keyring(keys, inUse: first)
    _ = keys.add()
    let second = try Keyring.renew(first, keys)
    #expect(second.number == 2)
    let after = try Keyring(keys, inUse: second)
    let code = before.code(of: [1, 2], for: "receipts")
    #expect(after.code(of: [1, 2], for: "receipts") == code)
    #expect(after.code(of: [1, 3], for: "receipts") != code)
    #expect(after.code(of: [1, 2], for: "others") != code)
    #expect(
      try Keyring(keys, inUse: Keyring.begin(keys, isComplete: true))
        .code(of: [1, 2], for: "receipts") != code
    )
  }

  @Test func `tells a sealed log by the secret alone, through rotations`() throws {
    var keys = MasterKeys()
    var inUse = Keyring.begin(keys, isComplete: false)
    let begun = try Keyring(keys, inUse: inUse)
    #expect(begun.acceptsPlain)
    _ = keys.add()
    inUse = try Keyring.renew(inUse, keys)
    #expect(try Keyring(keys, inUse: inUse).acceptsPlain)
    let sealed = try Keyring(keys, inUse: inUse).complete(inUse)
    #expect(sealed.number == 2)
    let after = try Keyring(keys, inUse: sealed)
    #expect(!after.acceptsPlain)
    #expect(after.code(of: [1], for: "receipts") == begun.code(of: [1], for: "receipts"))
    _ = keys.add()
    #expect(try !Keyring(keys, inUse: Keyring.renew(sealed, keys)).acceptsPlain)
    #expect(try !Keyring(keys, inUse: Keyring.begin(keys, isComplete: true)).acceptsPlain)
  }

  @Test func `reads its file again when it meets a number that it doesn't know`() throws {
    let scratch = try Scratch()
    var keys = MasterKeys()
    let inUse = Keyring.begin(keys, isComplete: true)
    let file = try scratch.write(keys.text)
    let keyring = Keyring(file: file)
    try keyring.open(inUse)
    _ = keys.add()
    let rotated = try Keyring(keys, inUse: Keyring.renew(inUse, keys))
    let wrapped = try rotated.wrap(DataKey(), for: ada)
    #expect(wrapped.masterKey == 2)
    #expect(throws: KeyError.unknownMasterKey(2)) { try keyring.unwrap(wrapped, of: ada) }
    // Another number is looked for at once, and all that the file has is known from then on.
    _ = keys.add()
    try SmallFile.replace(file, Array(keys.text.utf8), for: .owner)
    let third = try Keyring.renew(inUse, keys)
    // One that only has the number is not taken.
    #expect(throws: KeyError.otherMasterKey(3)) {
      try keyring.use(.init(number: 3, wrappedSecret: inUse.wrappedSecret))
    }
    try keyring.use(third)
    #expect(keyring.inUse == 3)
    #expect(try keyring.unwrap(wrapped, of: ada).bytes.count == 32)
    // What has left the file stays known.
    let newest = try keyring.wrap(DataKey(), for: ada)
    try SmallFile.replace(file, Array(MasterKeys().text.utf8), for: .owner)
    #expect(throws: KeyError.unknownMasterKey(4)) {
      try keyring.use(.init(number: 4, wrappedSecret: third.wrappedSecret))
    }
    #expect(try keyring.unwrap(newest, of: ada).bytes.count == 32)
    #expect(keyring.inUse == 3)
  }

  @Test func `tells how its file stands to the key in use`() throws {
    let scratch = try Scratch()
    var keys = MasterKeys()
    let first = Keyring.begin(keys, isComplete: true)
    let text = keys.text
    let file = try scratch.write(text)
    let keyring = Keyring(file: file)
    try keyring.open(first)
    #expect(keyring.check(first) == .good)
    try SmallFile.replace(file, Array(MasterKeys().text.utf8), for: .owner)
    #expect(keyring.check(first) == .remembered(.wrong(1)))
    try SmallFile.replace(file, [], for: .owner)
    #expect(keyring.check(first) == .remembered(.file(.empty(file))))
    #expect(!keyring.takeDoubt())
    // Another process has rotated, and this one's file has another key under the number.
    _ = keys.add()
    let second = try Keyring.renew(first, keys)
    var others = try MasterKeys(text: text, path: file)
    #expect(keyring.check(second) == .unknown(.file(.empty(file))))
    try SmallFile.replace(file, Array(text.utf8), for: .owner)
    #expect(keyring.check(second) == .unknown(.missing(2, among: [1])))
    _ = others.add()
    try SmallFile.replace(file, Array(others.text.utf8), for: .owner)
    #expect(throws: KeyError.otherMasterKey(2)) { try keyring.use(second) }
    #expect(keyring.takeDoubt() && !keyring.takeDoubt())
    #expect(keyring.check(second) == .unknown(.wrong(2)))
    // The right one takes its place without a restart.
    try SmallFile.replace(file, Array(keys.text.utf8), for: .owner)
    #expect(keyring.check(second) == .good)
    try keyring.use(second)
    #expect(keyring.inUse == 2)
    #expect(throws: KeyError.unknownMasterKey(5)) {
      try keyring.unwrap(WrappedKey(masterKey: 5, bytes: []), of: ada)
    }
    #expect(keyring.takeDoubt())
  }
}
