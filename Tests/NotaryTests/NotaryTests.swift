import EventLoop
import Files
import MerkleTree
import Postgres
import Sodium
import Synchronization
import TestSupport
import Testing

@testable import Notary

/// What notaries have reported.
private final class Reports: Sendable {
  private let states = Mutex<[NotaryState]>([])
  private let signs = Mutex(0)
  /// How often it was told that all is signed.
  var count: Int { signs.withLock { $0 } }

  /// The states, each once where it was told several times in a row.
  var all: [NotaryState] { states.withLock { $0 } }

  func add(_ report: Notary.Report) {
    guard case .state(let state) = report else { return }
    if state == .signs { signs.withLock { $0 += 1 } }
    states.withLock { if $0.last != state { $0.append(state) } }
  }
}

@Suite("Notaries of several processes", .database)
struct NotaryTests {
  private func notary(
    _ log: SignedLog,
    _ number: Int,
    _ reports: Reports,
    poll: Duration = .milliseconds(20)
  ) throws -> Notary {
    let keyFile = SigningKeyFile(log.directory + "/key")
    var pace = NotaryPace()
    pace.interval = .milliseconds(5)
    pace.poll = poll
    pace.batch = 256
    pace.refusalPause = .milliseconds(20)
    return try Notary(
      target: TestDatabase.current.target,
      signer: try keyFile.readOrCreate().signer,
      keyFile: keyFile,
      checkpointFile: "\(log.directory)/checkpoint\(number)",
      pace: pace,
      report: reports.add
    )
  }

  /// Waits until all is signed, by the present key, as file `number` has it too.
  private func waitUntilSigned(_ log: SignedLog, _ loop: EventLoop, file number: Int) async throws {
    let signer = try SigningKeyFile(log.directory + "/key").read()
    try await loop.until {
      let head = try? log.session.query("select coalesce(max(position), 0) from events")
      let bytes = try? SmallFile.read("\(log.directory)/checkpoint\(number)", for: .everybody)
      guard let head, let note = bytes.flatMap({ SignedNote($0) }),
        let checkpoint = Checkpoint(note, by: signer.verifier)
      else { return false }
      return checkpoint.size == head.integer(0, 0)
    }
  }

  /// Sees that all checkpoints are of one tree, as the tables have it.
  private func expectOneTree(_ log: SignedLog, origin: Int = 1) throws {
    let rows = try log.session.query(
      "select size, root from checkpoints where origin = \(origin) order by size"
    )
    let growth = try TreeGrowth(
      size: log.session.query("select size from notary").integer(0, 0),
      log.session
    )
    #expect(rows.count > 0)
    for row in 0..<rows.count {
      let root = try growth.root(ofTreeOf: rows.integer(row, 0), log.session)
      #expect(root == TreeHash(rows.bytes(row, 1)))
    }
  }

  @Test func `sign one tree between them, whoever's connection breaks`() async throws {
    try await withLoop { loop in
      let log = try SignedLog()
      let reports = Reports()
      let notaries = try (0..<3).map { try self.notary(log, $0, reports) }
      for _ in 0..<12 {
        try log.append(200)
        try TestDatabase.current.terminate(Notary.applicationName)
        try log.append(1)
      }
      for number in 0..<3 { try await self.waitUntilSigned(log, loop, file: number) }
      for notary in notaries { notary.stop() }
      for notary in notaries { notary.join() }
      try self.expectOneTree(log)
      #expect(reports.all == [.signs])
      #expect(try log.signedSizes().last == 12 * 201)
    }
  }

  @Test func `don't say that they sign while one that is at it is stuck`() async throws {
    try await withLoop { loop in
      let log = try SignedLog()
      let reports = Reports()
      try log.append(10)
      let notary = try self.notary(log, 0, reports)
      defer {
        notary.stop()
        notary.join()
      }
      try await self.waitUntilSigned(log, loop, file: 0)
      let holder = try TestDatabase.current.session()
      try holder.script("begin; select from notary for update")
      // With nothing to sign, all is well.
      let idle = reports.count
      try await loop.until { reports.count > idle + 2 }
      try log.append(1)
      // One look more may take what was there for signed.
      let before = reports.count
      try await Task.sleep(for: .milliseconds(500))
      let stuck = reports.count
      #expect(stuck <= before + 2)
      try await Task.sleep(for: .milliseconds(300))
      #expect(reports.count == stuck)
      try holder.script("commit")
      try await loop.until { reports.count > stuck }
      try await self.waitUntilSigned(log, loop, file: 0)
    }
  }

  @Test func `hear of what is appended, each time that all was signed`() async throws {
    try await withLoop { loop in
      let log = try SignedLog()
      // Looking by itself would come too late.
      let notary = try self.notary(log, 0, Reports(), poll: .seconds(600))
      for _ in 0..<5 {
        try log.append(10)
        try await self.waitUntilSigned(log, loop, file: 0)
        // Time to begin to listen.
        try await Task.sleep(for: .milliseconds(100))
      }
      notary.stop()
      notary.join()
    }
  }

  @Test func `begin anew when an operator says so`() async throws {
    try await withLoop { loop in
      let log = try SignedLog()
      let reports = Reports()
      try log.append(500)
      let notaries = try (0..<2).map { try self.notary(log, $0, reports) }
      for number in 0..<2 { try await self.waitUntilSigned(log, loop, file: number) }
      let keyFile = SigningKeyFile(log.directory + "/key")
      let old = try keyFile.read().verifier

      try log.session.script("delete from events where position > 400")
      try await loop.until {
        reports.all.last == .refuses(.logIsShorter(head: 400, size: 500))
      }
      try log.append(300)
      try await loop.until { reports.all.last == .refuses(.eventDiffers(position: 401)) }
      #expect(try NewOrigin.isKnown(old, log.session))

      let new = try keyFile.renew(origin: "example.com/log/2")
      #expect(try !NewOrigin.isKnown(new.verifier, log.session))
      try NewOrigin.begin(new.verifier, log.session)
      for number in 0..<2 { try await self.waitUntilSigned(log, loop, file: number) }
      for notary in notaries { notary.stop() }
      for notary in notaries { notary.join() }
      #expect(reports.all.last == .signs)
      try self.expectOneTree(log, origin: 2)
      // What was signed before is still there, in the tables and beside the files.
      let rows = try log.session.query(
        "select max(size) filter (where origin = 1), max(size) filter (where origin = 2) "
          + "from checkpoints"
      )
      #expect(rows.integer(0, 0, as: Int64.self) == 500)
      #expect(rows.integer(0, 1, as: Int64.self) == 700)
      for number in 0..<2 {
        let path = "\(log.directory)/checkpoint\(number).\(old.keyIDText)"
        let note = try #require(SignedNote(SmallFile.read(path, for: .everybody)))
        #expect(Checkpoint(note, by: old)?.size == 500)
      }
    }
  }
}
