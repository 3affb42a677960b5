import Foundation
import Glibc
import Testing

@testable import Files

/// A directory that is gone after the test.
private struct Scratch: ~Copyable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/jejak-files-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }
}

private func mode(_ path: String) -> mode_t {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
}

@Suite("A small file")
struct SmallFileTests {
  @Test func `is made once, for its owner alone`() throws {
    let scratch = try Scratch()
    let file = scratch.path + "/file"
    #expect(try SmallFile.make(file, [1, 2]))
    #expect(mode(file) == 0o600)
    #expect(try !SmallFile.make(file, [3]))
    #expect(try SmallFile.read(file, for: .owner) == [1, 2])
    #expect(try scratch.names == ["file"])
  }

  @Test(arguments: [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644, 0o777] as [mode_t])
  func `for its owner is refused where anybody else has a right to it`(mode: mode_t) throws {
    let scratch = try Scratch()
    let file = scratch.path + "/file"
    #expect(try SmallFile.make(file, [1]))
    chmod(file, mode)
    #expect(throws: SmallFileError.exposed(file)) { try SmallFile.read(file, for: .owner) }
    #expect(try SmallFile.read(file, for: .everybody) == [1])
  }

  @Test(.enabled(if: geteuid() == 0))
  func `for its owner is refused where it is another account's`() throws {
    let scratch = try Scratch()
    let file = scratch.path + "/file"
    #expect(try SmallFile.make(file, [1]))
    chown(file, 65_534, 65_534)
    #expect(throws: SmallFileError.unusable(file, reason: "it belongs to another account")) {
      try SmallFile.read(file, for: .owner)
    }
    try SmallFile.replace(file, [2], for: .owner)
    var status = stat()
    #expect(stat(file, &status) == 0)
    #expect(status.st_uid == 65_534 && status.st_gid == 65_534)
  }

  @Test func `is replaced as a whole and keeps its mode`() throws {
    let scratch = try Scratch()
    let (own, open) = (scratch.path + "/own", scratch.path + "/open")
    try SmallFile.replace(own, [1], for: .owner)
    try SmallFile.replace(open, [1], for: .everybody)
    #expect(mode(own) == 0o600)
    #expect(mode(open) & 0o600 == 0o600)
    #expect(mode(open) & 0o033 == 0)
    chmod(open, 0o640)
    try SmallFile.replace(open, [2], for: .everybody)
    #expect(mode(open) == 0o640)
    #expect(try SmallFile.read(open, for: .everybody) == [2])
    #expect(try scratch.names == ["open", "own"])
  }

  @Test func `is refused where it is missing, no file or too large`() throws {
    let scratch = try Scratch()
    let file = scratch.path + "/file"
    let missing = #expect(throws: SmallFileError.missing(file)) {
      try SmallFile.read(file, for: .everybody)
    }
    #expect(missing?.isMissing == true)
    #expect(throws: SmallFileError.missing(file)) {
      try SmallFile.putAside(file, as: "2")
    }
    let reason = "it is no regular file"
    #expect(throws: SmallFileError.unusable(scratch.path, reason: reason)) {
      try SmallFile.read(scratch.path, for: .everybody)
    }
    // Nobody writes into the pipe, and it isn't waited for.
    #expect(mkfifo(file, 0o600) == 0)
    #expect(throws: SmallFileError.unusable(file, reason: reason)) {
      try SmallFile.read(file, for: .owner)
    }
    unlink(file)
    #expect(try SmallFile.make(file, [UInt8](repeating: 1, count: SmallFile.limit)))
    #expect(try SmallFile.read(file, for: .owner).count == SmallFile.limit)
    try SmallFile.replace(file, [UInt8](repeating: 1, count: SmallFile.limit + 1), for: .owner)
    #expect(throws: SmallFileError.unusable(file, reason: "it is too large")) {
      try SmallFile.read(file, for: .owner)
    }
  }

  @Test func `that can't be replaced stays as it was`() throws {
    let scratch = try Scratch()
    let file = scratch.path + "/directory"
    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
    #expect(throws: SmallFileError.self) { try SmallFile.replace(file, [1], for: .everybody) }
    #expect(try scratch.names == ["directory"])
    #expect(throws: SmallFileError.self) {
      try SmallFile.replace("\(scratch.path)/none/file", [1], for: .everybody)
    }
  }

  @Test func `is replaced and put aside behind its symbolic links, which stay`() throws {
    let scratch = try Scratch()
    let (real, file) = (scratch.path + "/real", scratch.path + "/file")
    try FileManager.default.createDirectory(atPath: real, withIntermediateDirectories: true)
    // One that names the other relatively, which names the file from the root.
    #expect(symlink("real/link", file) == 0)
    #expect(symlink(real + "/keys", real + "/link") == 0)
    #expect(try SmallFile.make(file, [1]))
    #expect(try !SmallFile.make(file, [2]))
    chmod(real + "/keys", 0o640)
    try SmallFile.replace(file, [3], for: .owner)
    #expect(try SmallFile.read(real + "/keys", for: .everybody) == [3])
    #expect(mode(real + "/keys") == 0o640)
    try SmallFile.alone(with: file) {
      let other = open(real, O_RDONLY)
      defer { _ = close(other) }
      #expect(flock(other, LOCK_EX | LOCK_NB) == -1)
    }
    try SmallFile.putAside(file, as: "old")
    #expect(throws: SmallFileError.missing(file)) { try SmallFile.putAside(file, as: "old") }
    try SmallFile.replace(file, [4], for: .owner)
    #expect(try SmallFile.read(real + "/keys.old", for: .everybody) == [3])
    #expect(try SmallFile.read(file, for: .owner) == [4])
    #expect(try scratch.names == ["file", "real"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: real).sorted()
        == ["keys", "keys.old", "link"]
    )
    for link in [file, real + "/link"] {
      #expect(throws: Never.self) {
        try FileManager.default.destinationOfSymbolicLink(atPath: link)
      }
    }
  }

  @Test func `is not put in the place of what is no regular file`() throws {
    let scratch = try Scratch()
    let (pipe, link, loop) = (
      scratch.path + "/pipe", scratch.path + "/link", scratch.path + "/loop"
    )
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(symlink(pipe, link) == 0)
    for path in [pipe, link, scratch.path, "/dev/null"] {
      let refused = SmallFileError.unusable(path, reason: "it is no regular file")
      #expect(throws: refused) { try SmallFile.replace(path, [1], for: .everybody) }
      #expect(throws: refused) { try SmallFile.make(path, [1]) }
      #expect(throws: refused) { try SmallFile.putAside(path, as: "old") }
    }
    #expect(symlink("loop", loop) == 0)
    #expect(throws: SmallFileError.self) { try SmallFile.replace(loop, [1], for: .everybody) }
    // An open file without a name, which a link of the system still tells.
    let nameless = open(scratch.path + "/nameless", O_RDWR | O_CREAT, 0o600)
    defer { _ = close(nameless) }
    unlink(scratch.path + "/nameless")
    #expect(throws: SmallFileError.self) {
      try SmallFile.replace("/proc/self/fd/\(nameless)", [1], for: .everybody)
    }
    #expect(try scratch.names == ["link", "loop", "pipe"])
  }
}
