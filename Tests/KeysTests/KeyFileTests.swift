import Files
import Foundation
import Testing

@testable import Keys

/// A directory that is gone after the test.
struct Scratch: ~Copyable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/jejak-keys-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ text: String, mode: Int = 0o600) throws -> String {
    let file = path + "/keys"
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return file
  }
}

@Suite("A key file")
struct KeyFileTests {
  private static let key = String(repeating: "A", count: 43)

  @Test func `holds what was written, and only its owner can read it`() throws {
    let scratch = try Scratch()
    let file = scratch.path + "/keys"
    var keys = MasterKeys()
    #expect(keys.add() == 2)
    #expect(try SmallFile.make(file, Array(keys.text.utf8)))
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let read = try MasterKeys(file: file)
    #expect(read.numbers == [1, 2])
    #expect(read.keys.map(\.bytes) == keys.keys.map(\.bytes))
    #expect(read.keys[0].bytes != read.keys[1].bytes)
    // What is there stays.
    #expect(try !SmallFile.make(file, [1]))
    #expect(try MasterKeys(file: file).numbers == [1, 2])
    #expect(keys.add() == 3)
    try SmallFile.replace(file, Array(keys.text.utf8), for: .owner)
    #expect(try MasterKeys(file: file).numbers == [1, 2, 3])
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["keys"])
  }

  @Test(arguments: [0o604, 0o602, 0o640])
  func `is refused where others can read or write it`(mode: Int) throws {
    let scratch = try Scratch()
    let file = try scratch.write("1 \(Self.key)\n", mode: mode)
    #expect(throws: KeyFileError.file(.exposed(file))) { try MasterKeys(file: file) }
  }

  @Test func `is refused where it is missing, a directory or too large`() throws {
    let scratch = try Scratch()
    let missing = scratch.path + "/none"
    #expect(throws: KeyFileError.file(.missing(missing))) { try MasterKeys(file: missing) }
    #expect(throws: KeyFileError.self) { try MasterKeys(file: scratch.path) }
    let file = try scratch.write(String(repeating: "#", count: SmallFile.limit + 1))
    #expect(throws: KeyFileError.self) { try MasterKeys(file: file) }
  }

  @Test func `may have comments, empty lines and any order`() throws {
    let keys = try MasterKeys(text: "# one\n\n 7\t\(Self.key)\r\n2 \(Self.key) \n", path: "f")
    #expect(keys.numbers == [2, 7])
    #expect(keys.newest == 7)
  }

  @Test(arguments: [
    ("x \(key)", 1), ("0 \(key)", 1), ("-1 \(key)", 1), ("1", 1), ("1 \(key)A", 1),
    ("1 \(key.dropLast())", 1), ("1 \(key) more", 1), ("#\n1 \(key)\n1 \(key)", 3),
    ("99999999999 \(key)", 1), (key, 1),
  ])
  func `names the line that can't be read, and not what is in it`(text: String, line: Int) {
    let error = #expect(throws: KeyFileError.self) { try MasterKeys(text: text, path: "f") }
    #expect(error?.description.hasPrefix("f:\(line): ") == true)
    #expect(error?.description.contains("AAAA") == false)
  }

  @Test func `has a key at least`() {
    #expect(throws: KeyFileError.empty("f")) { try MasterKeys(text: "# none\n", path: "f") }
  }

  @Test func `that is a symbolic link stays one when a key is added`() throws {
    let scratch = try Scratch()
    let file = try scratch.write("1 \(Self.key)\n")
    let link = scratch.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "keys")
    #expect(try MasterKeys.add(to: link).numbers == [1, 2])
    #expect(try MasterKeys(file: file).numbers == [1, 2])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "keys")
  }

  @Test func `takes no key beyond the highest number or the limit`() throws {
    let scratch = try Scratch()
    let text = "1 \(Self.key)\n2147483647 \(Self.key)\n"
    let file = try scratch.write(text)
    let error = #expect(throws: KeyFileError.self) { try MasterKeys.add(to: file) }
    #expect(
      error?.description
        == "\(file) takes no other key: it has key 2147483647, the highest number"
    )
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    let lines = (1...MasterKeys.limit).map { "\($0) \(Self.key)\n" }
    _ = try scratch.write(lines.joined())
    #expect(throws: KeyFileError.full(file, "1000 keys")) { try MasterKeys.add(to: file) }
    #expect(try MasterKeys(file: file).numbers.count == MasterKeys.limit)
  }
}
