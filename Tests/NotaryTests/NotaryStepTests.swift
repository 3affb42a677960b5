import EventLog
import Files
import Glibc
import MerkleTree
import Postgres
import Sodium
import TestSupport
import Testing

@testable import Notary

/// The tree that the events of the log make, by the definition.
private func root(_ size: Int64, _ session: borrowing BlockingConnection) throws -> TreeHash {
  let rows = try session.query(
    "select \(LogEntry.columns) from events where position <= \(size) order by position"
  )
  return .above(try (0..<rows.count).map { try #require(LogEntry(rows, $0)).leaf })
}

@Suite("A step of the notary", .database)
struct NotaryStepTests {
  @Test func `signs an empty log, and then whatever is appended`() throws {
    let log = try SignedLog()
    #expect(try log.step() == .advanced(isSigned: true))
    #expect(try log.step() == .idle)
    for count in [1, 1, 253, 1, 1, 300, 2000] {
      try log.append(count)
      #expect(try log.step() == .advanced(isSigned: true))
      #expect(try log.step() == .idle)
    }
    #expect(try log.signedSizes() == [0, 1, 2, 255, 256, 257, 557, 2557])
    let rows = try log.session.query("select size, root, note from checkpoints order by size")
    for row in 0..<rows.count {
      let size: Int64 = rows.integer(row, 0)
      let note = try #require(SignedNote(Array((rows.string(row, 2) ?? "").utf8)))
      let checkpoint = try #require(Checkpoint(note, by: log.signer.verifier))
      #expect(checkpoint.size == size)
      #expect(checkpoint.root == TreeHash(rows.bytes(row, 1)))
      #expect(checkpoint.root == (try root(size, log.session)))
    }
    #expect(try log.kept() == rows.string(rows.count - 1, 2))
    let tiles = try log.session.query("select level, index from tree_tiles order by index")
    #expect(tiles.count == 9)
  }

  @Test func `takes much in by parts, and signs the last one at least`() throws {
    let log = try SignedLog()
    log.pace.batch = 512
    try log.append(70_000)
    var steps = 0
    while try log.step() == .advanced(isSigned: true) { steps += 1 }
    #expect(steps == 137)
    #expect(try log.step() == .idle)
    #expect(try log.signedSizes().last == 70_000)
    let rows = try log.session.query(
      """
      select (select count(*) from tree_tiles where level = 0),
             (select count(*) from tree_tiles where level = 1),
             array_agg(octet_length(hashes) / 32 order by level) from tree_edge
      """
    )
    #expect(rows.integer(0, 0, as: Int64.self) == 273)
    #expect(rows.integer(0, 1, as: Int64.self) == 1)
    #expect(rows.integers(0, 2, as: Int32.self) == [112, 17, 1])
  }

  @Test func `signs no more often than it may`() throws {
    let log = try SignedLog()
    log.pace.interval = .seconds(3600)
    try log.append(5)
    #expect(try log.step() == .advanced(isSigned: true))
    try log.append(5)
    guard case .notDue(let wait) = try log.step() else {
      Issue.record("it was not told to wait")
      return
    }
    #expect(wait > .seconds(3500) && wait <= .seconds(3600))
    // Much is taken in all the same, and signed when its time has come.
    log.pace.batch = 256
    try log.append(500)
    #expect(try log.step() == .advanced(isSigned: false))
    log.pace.interval = .zero
    #expect(try log.step() == .advanced(isSigned: true))
    #expect(try log.signedSizes() == [5, 510])
  }

  @Test func `waits until the log is sealed`() throws {
    let log = try SignedLog()
    try log.session.script("update sealing set is_complete = false")
    #expect(try log.step() == .waitsForSealing)
    #expect(try log.signedSizes() == [])
    try log.session.script("update sealing set is_complete = true")
    #expect(try log.step() == .advanced(isSigned: true))
  }

  @Test func `leaves the work to another one that is at it`() throws {
    let log = try SignedLog()
    try log.session.script("begin; select from notary for update")
    #expect(try log.step() == .busy)
    try log.session.script("commit")
    #expect(try log.step() == .advanced(isSigned: true))
  }

  @Test func `brings the file up to date with what others have signed`() throws {
    let log = try SignedLog()
    try log.append(3)
    try log.step(keepsFile: false)
    #expect(throws: SmallFileError.self) { try log.kept() }
    #expect(try log.step() == .idle)
    let first = try log.kept()
    try log.append(3)
    try log.step(keepsFile: false)
    #expect(try log.step(rechecks: false) == .idle)
    #expect(try log.kept() == first)
    try log.step()
    #expect(try log.kept() != first)
  }
}

@Suite("A notary refuses to sign", .database)
struct NotaryRefusalTests {
  /// A log of so many events, all signed.
  private func signed(_ count: Int) throws -> SignedLog {
    let log = try SignedLog()
    try log.append(count)
    try log.step()
    return log
  }

  /// Sees that nothing was signed, until what was done is undone.
  private func expect(
    _ refusal: NotaryRefusal,
    _ log: SignedLog,
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try log.signedSizes()
    #expect(try log.refusal() == refusal, sourceLocation: sourceLocation)
    #expect(try log.refusal() == refusal, sourceLocation: sourceLocation)
    #expect(try log.signedSizes() == before, sourceLocation: sourceLocation)
  }

  @Test func `where the log's tail was cut off, also when it grows again`() throws {
    let log = try signed(300)
    try log.session.script("delete from events where position > 290")
    try expect(.logIsShorter(head: 290, size: 300), log)
    try log.append(20)
    try expect(.eventDiffers(position: 291), log)
  }

  @Test func `where a hole is in the log`() throws {
    let log = try signed(10)
    try log.append(10)
    try log.session.script("delete from events where position = 15")
    try expect(.hole(position: 15), log)
  }

  @Test(arguments: [10, 256, 300])
  func `where an event of the last tile was altered`(count: Int) throws {
    let log = try signed(count)
    try log.append(1)
    try log.session.script("update events set type = 'EmailChanged' where position = \(count)")
    try expect(.eventDiffers(position: Int64(count)), log)
  }

  @Test func `where an event can't be one`() throws {
    let log = try signed(1)
    try log.append(1)
    try log.session.script("update events set payload_sha256 = '' where position = 2")
    try expect(.eventIsImpossible(position: 2), log)
  }

  @Test func `where a tile was altered or removed`() throws {
    let log = try signed(700)
    try log.append(200)
    try log.step()
    // The root at 700 is made of the tile that has become full since.
    try log.session.script("delete from checkpoints where size = 900")
    try log.session.script(
      "update tree_tiles set hashes = set_byte(hashes, 5, 255 - get_byte(hashes, 5)) where index = 2"
    )
    try expect(.treeDiffers(size: 700), log)
    try log.session.script("delete from tree_tiles where index = 2")
    try expect(.treeDiffers(size: 700), log)
  }

  @Test func `where the edge was altered or removed`() throws {
    let log = try signed(700)
    try log.session.script(
      "update tree_edge set hashes = set_byte(hashes, 5, 255 - get_byte(hashes, 5)) where level = 1"
    )
    try expect(.treeDiffers(size: 700), log)
    try log.session.script("update tree_edge set hashes = substr(hashes, 33) where level = 0")
    try expect(.treeIsDamaged, log)
    try log.session.script("delete from tree_edge where level = 0")
    try expect(.treeIsDamaged, log)
  }

  @Test(arguments: ["32767, '\\x00'", "32767, ''", "-1, ''", "2, ''"])
  func `where the edge has a row too many`(row: String) throws {
    let log = try signed(300)
    try log.session.script(
      """
      alter table tree_edge drop constraint tree_edge_level_is_bounded;
      insert into tree_edge values (\(row))
      """
    )
    try log.append(1)
    try expect(.treeIsDamaged, log)
  }

  @Test(arguments: ["notary", "sealing"])
  func `where a table has lost its row`(table: String) throws {
    let log = try signed(10)
    try log.append(1)
    try log.session.script("delete from \(table)")
    try expect(.rowIsMissing(table: table), log)
  }

  @Test func `where tree and checkpoints were put back without the log`() throws {
    let log = try signed(200)
    try log.append(200)
    try log.step()
    try log.session.script("update notary set size = 200; delete from checkpoints where size = 400")
    try expect(.treeIsDamaged, log)
  }

  @Test func `where the last checkpoint is not one of this key`() throws {
    let log = try signed(10)
    let other = try #require(NoteSigner.make(name: log.signer.verifier.name))
    let forged = Checkpoint(origin: other.verifier.name, size: 10, root: .emptyTree)
    for note in [forged.signed(by: other).description, "", "no note"] {
      try log.session.script("update checkpoints set note = '\(note)'")
      try expect(.checkpointIsInvalid(size: 10), log)
    }
  }

  @Test func `where the database was put back to an earlier state`() throws {
    let log = try signed(10)
    let early = try log.kept()
    try log.append(300)
    try log.step()
    let late = try log.kept()
    try log.session.script(
      """
      delete from events where position > 10;
      delete from checkpoints where size > 10;
      delete from tree_tiles;
      update tree_edge set hashes = (select substr(hashes, 1, 320) from tree_edge where level = 0)
       where level = 0;
      delete from tree_edge where level > 0;
      update notary set size = 10
      """
    )
    // The edge is that of the second tile: put the first one's leaves there.
    let rows = try log.session.query("select \(LogEntry.columns) from events order by position")
    let leaves = try (0..<rows.count).map { try #require(LogEntry(rows, $0)).leaf }
    var parameters = Parameters()
    parameters.add(leaves.bytes)
    try log.session.query("update tree_edge set hashes = $1::bytea", parameters)

    try expect(.checkpointFileIsAhead(size: 310, head: 10), log)
    try log.append(100)
    try expect(.checkpointFileIsAhead(size: 310, head: 110), log)
    // Longer than what was lost, and other events.
    try log.append(300)
    try expect(.checkpointFileDiffers(size: 310), log)
    #expect(try log.kept() == late)
    // Without the file of that time nobody could tell.
    try SmallFile.replace(log.file, Array(early.utf8), for: .everybody)
    #expect(try log.step() == .advanced(isSigned: true))
  }

  @Test func `not where the process was killed between file and commit`() throws {
    let log = try signed(10)
    try log.append(1000)
    let ahead = try #require(
      SignedNote(
        Array(
          Checkpoint(
            origin: log.signer.verifier.name,
            size: 900,
            root: root(900, log.session)
          ).signed(by: log.signer).description.utf8
        )
      )
    )
    try SmallFile.replace(log.file, Array(ahead.description.utf8), for: .everybody)
    log.pace.batch = 256
    // It takes in what the file speaks of before it signs anything.
    #expect(try log.step() == .advanced(isSigned: false))
    #expect(try log.step() == .advanced(isSigned: false))
    while try log.step() != .idle {}
    #expect(try log.signedSizes().last == 1010)
    #expect(try log.signedSizes().filter { $0 > 10 && $0 < 900 } == [])
  }

  @Test func `where the file has something else in it`() throws {
    let log = try signed(10)
    try log.append(1)
    let other = try #require(NoteSigner.make(name: log.signer.verifier.name))
    let foreign = Checkpoint(origin: other.verifier.name, size: 1, root: .emptyTree)
    for text in ["", "x", foreign.signed(by: other).description] {
      try SmallFile.replace(log.file, Array(text.utf8), for: .everybody)
      try expect(.checkpointFileIsInvalid(path: log.file), log)
    }
    unlink(log.file)
    mkdir(log.file, 0o700)
    try expect(
      .checkpointFileIsUnusable(path: log.file, reason: "it is no regular file"),
      log
    )
    rmdir(log.file)
    #expect(try log.refusal() == nil)
  }

  @Test func `with another key than the log's`() throws {
    let log = try signed(10)
    try log.append(1)
    let other = try #require(NoteSigner.make(name: "example.com/other"))
    guard case .keyDiffers? = try log.refusal(other) else {
      Issue.record("it did not refuse")
      return
    }
    #expect(try log.signedSizes() == [10])
    #expect(try log.refusal() == nil)
  }
}
