import Clocks
import EventLog
import Foundation
import Glibc
import Profiles
import Testing

@testable import Accounts

/// A list in a directory that is gone after the test.
private struct Scratch: ~Copyable {
  let directory: String
  let list: ErasureList

  init() throws {
    directory = FileManager.default.temporaryDirectory.path + "/jejak-list-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    list = ErasureList(path: directory + "/list")
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  var bytes: [UInt8] { get throws { Array(try Data(contentsOf: URL(fileURLWithPath: list.path))) } }

  func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: list.path)) }
}

private let erasures = (1...3).map { number in
  Erasure(
    user: UserID(at: .now()),
    position: Position(Int64(number)),
    erasedAt: Timestamp(microseconds: 1_772_000_000_000_000 + Int64(number))
  )
}

@Suite("A list of erasures")
struct ErasureListTests {
  @Test func `has each person once, in the order of the lines`() throws {
    let scratch = try Scratch()
    #expect(try scratch.list.read() == [])
    #expect(try scratch.list.add(Array(erasures[..<2])) == 2)
    #expect(try scratch.list.add(erasures) == 1)
    #expect(try scratch.list.read() == erasures)
    #expect(try scratch.bytes == erasures.flatMap(ErasureList.line))
  }

  @Test func `counts a last line without its line break, and keeps it`() throws {
    let scratch = try Scratch()
    try scratch.write(erasures[..<2].flatMap(ErasureList.line).dropLast())
    #expect(try scratch.list.read() == Array(erasures[..<2]))
    #expect(try scratch.list.add(erasures) == 1)
    #expect(try scratch.bytes == erasures.flatMap(ErasureList.line))
  }

  @Test(arguments: 1..<ErasureList.line(erasures[0]).count - 1)
  func `tells of a line that was cut short, which the next takes off`(count: Int) throws {
    let scratch = try Scratch()
    let whole = ErasureList.line(erasures[0])
    try scratch.write(whole + ErasureList.line(erasures[1]).prefix(count))
    let failure = #expect(throws: ErasureList.Failure.self) { try scratch.list.read() }
    #expect(failure?.description == "\(scratch.list.path):2: this line was cut short")
    #expect(try scratch.list.read(mends: true) == [erasures[0]])
    #expect(try scratch.list.add([erasures[0]]) == 0)
    #expect(try scratch.bytes == whole)
  }

  @Test(arguments: [
    [UInt8](repeating: 0, count: 3 << 20), [0], Array("something else".utf8),
    Array("something else\n".utf8),
    Array(#"{"user":""#.utf8) + [UInt8](repeating: 0x61, count: 1 << 16),
  ])
  func `names the line that is no erasure, and leaves it alone`(damage: [UInt8]) throws {
    let scratch = try Scratch()
    let bytes = ErasureList.line(erasures[0]) + damage
    try scratch.write(bytes)
    for use in [{ _ = try $0.read() }, { _ = try $0.add(erasures) }]
      as [(ErasureList) throws -> Void]
    {
      let failure = #expect(throws: ErasureList.Failure.self) { try use(scratch.list) }
      #expect(failure?.description == "\(scratch.list.path):2: this line is no erasure")
    }
    #expect(try scratch.bytes == bytes)
  }

  @Test func `is read whole, however many lines it has`() throws {
    let scratch = try Scratch()
    let many = (1...5_000).map { number in
      Erasure(
        user: UserID(at: .now()),
        position: Position(Int64(number)),
        erasedAt: erasures[0].erasedAt
      )
    }
    #expect(try scratch.list.add(many) == many.count)
    #expect(try scratch.list.read() == many)
  }

  @Test func `is not waited for where another holds the lock on it`() throws {
    let scratch = try Scratch()
    try scratch.list.add([erasures[0]])
    let holder = open(scratch.list.path, O_RDONLY)
    #expect(flock(holder, LOCK_EX | LOCK_NB) == 0)
    let failure = #expect(throws: ErasureList.Failure.self) {
      try scratch.list.add(erasures, patience: .milliseconds(50))
    }
    #expect(
      failure?.description
        == "can't lock \(scratch.list.path): another process holds the lock on it"
    )
    // A lock doesn't keep a reader off.
    #expect(try scratch.list.read() == [erasures[0]])
    close(holder)
    #expect(try scratch.list.add(erasures, patience: .zero) == 2)
  }

  @Test func `is refused where it is no regular file`() throws {
    let scratch = try Scratch()
    // Nobody reads or writes at the other end of the pipe, and it isn't waited for.
    #expect(mkfifo(scratch.list.path, 0o600) == 0)
    for list in [scratch.list, ErasureList(path: "/dev/null")] {
      let reason = "\(list.path): it is no regular file"
      for use in [
        { _ = try $0.read() }, { _ = try $0.add(erasures) }, { try $0.replace(with: erasures) },
      ] as [(ErasureList) throws -> Void] {
        let failure = #expect(throws: ErasureList.Failure.self) { try use(list) }
        #expect(failure?.description.hasSuffix(reason) == true)
      }
    }
  }

  @Test func `is replaced behind its symbolic link`() throws {
    let scratch = try Scratch()
    let link = ErasureList(path: scratch.directory + "/link")
    #expect(symlink("list", link.path) == 0)
    try scratch.list.add([erasures[0]])
    try link.replace(with: erasures)
    #expect(try scratch.list.read() == erasures)
    #expect(try link.read() == erasures)
  }
}
