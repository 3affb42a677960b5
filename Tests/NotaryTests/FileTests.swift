import Files
import Glibc
import MerkleTree
import TestSupport
import Testing

@testable import Notary

/// A directory for the time of `body`.
private func withDirectory(_ body: (String) throws -> Void) throws {
  var template = Array("/tmp/jejak-keys-XXXXXX".utf8CString)
  try #require(mkdtemp(&template) != nil)
  let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  defer {
    for name in (try? names(in: path)) ?? [] { unlink("\(path)/\(name)") }
    rmdir(path)
  }
  try body(path)
}

@Suite("A signing key's file")
struct SigningKeyFileTests {
  @Test func `is made once, for its owner alone, and read again`() throws {
    try withDirectory { directory in
      let file = SigningKeyFile(directory + "/signing-key")
      let (signer, isNew) = try file.readOrCreate()
      #expect(isNew)
      #expect(signer.verifier.name.hasPrefix("localhost/jejak/"))
      #expect(signer.verifier.name.utf8.count == "localhost/jejak/".utf8.count + 8)
      var status = stat()
      #expect(stat(file.path, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
      let (again, isNewAgain) = try file.readOrCreate()
      #expect(!isNewAgain)
      #expect(again.verifier == signer.verifier)
      #expect(throws: SmallFileError.self) { try file.create(origin: "example.com/log") }
      #expect(try file.read().verifier == signer.verifier)
      #expect(try names(in: directory) == ["signing-key"])
    }
  }

  @Test func `is refused where others can read it, or it holds no key`() throws {
    try withDirectory { directory in
      let file = SigningKeyFile(directory + "/key")
      _ = try file.create(origin: "example.com/log")
      chmod(file.path, 0o640)
      #expect(throws: SmallFileError.exposed(file.path)) { try file.read() }
      chmod(file.path, 0o400)
      #expect(try file.read().verifier.name == "example.com/log")
      let empty = SigningKeyFile(directory + "/empty")
      _ = try SmallFile.make(empty.path, [])
      #expect(throws: SmallFileError.self) { try empty.read() }
      let missing = #expect(throws: SmallFileError.self) {
        try SigningKeyFile(directory + "/missing").read()
      }
      #expect(missing?.isMissing == true)
      #expect(throws: SmallFileError.self) {
        try SigningKeyFile(directory + "/new").create(origin: "two words")
      }
      #expect(throws: SmallFileError.self) { try SigningKeyFile(directory).read() }
    }
  }

  @Test func `keeps the key of before beside the new one`() throws {
    try withDirectory { directory in
      let file = SigningKeyFile(directory + "/key")
      let old = try file.create(origin: "example.com/log")
      #expect(throws: SmallFileError.self) { try file.renew(origin: "example.com/log") }
      #expect(try file.read().verifier == old.verifier)
      let new = try file.renew(origin: "example.com/log/2")
      #expect(try file.read().verifier == new.verifier)
      let aside = SigningKeyFile("\(file.path).\(old.verifier.keyIDText)")
      #expect(try aside.read().verifier == old.verifier)
    }
  }
}

@Suite("The name of a new origin")
struct OriginNameTests {
  @Test(arguments: [
    (["example.com/log"], "example.com/log/2"),
    (["example.com/log/2", "example.com/log"], "example.com/log/3"),
    (["example.com/log/2024"], "example.com/log/2024/2"),
    (["other", "other/2", "example.com/log"], "other/3"),
    (["other/x", "other"], "other/x/2"),
  ])
  func `is the present one with the next number`(names: [String], expected: String) {
    #expect(NewOrigin.nextName(after: names) == expected)
  }

  @Test func `is none for a log without a name`() {
    #expect(NewOrigin.nextName(after: []) == nil)
  }
}
