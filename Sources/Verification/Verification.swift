import EventLog
public import Keys
public import MerkleTree
import Postgres
import Projections
import Synchronization

/// Holds the log, and all that stands beside it, against itself: everything that can be known without
/// trusting the database, in one snapshot, while the service goes on.
public struct Verification: Sendable {
  /// A part of the work, as progress names it.
  public enum Part: String, Sendable {
    /// The events in their order, and the tree over them.
    case positions
    /// The events of each user, and what is stored for them.
    case users
  }

  /// Events of a range of users, about.
  private static let eventsPerRange: Int64 = 50_000
  /// Ranges for each worker, so that all end at about the same time.
  private static let rangesPerWorker: Int64 = 4

  private let target: String
  private let keyring: Keyring?
  private let workers: Int
  /// The public key that the log should be signed with; nil for the one that the database names.
  public var key: NoteVerifier?
  /// Checkpoints that were kept outside the database, before it is looked at.
  public var outside: [OutsideCheckpoint] = []

  /// A verification of the log that libpq finds by `target`, and whose payloads `keyring` opens, by
  /// so many threads; without keys, of positions, tree and checkpoints alone.
  public init(target: String, keyring: Keyring?, workers: Int) {
    self.target = target
    self.keyring = keyring
    self.workers = workers
  }

  /// Verifies; `progress` is told in the calling thread how many events of a part are done.
  public func run(
    progress: (_ part: Part, _ done: Int64, _ total: Int64) -> Void
  ) throws -> VerificationReport {
    try Snapshot.take(of: target) { snapshot, connection in
      let findings = Findings()
      let tree = try StoredTree(length: snapshot.length, connection)
      try StoredSchema.check(connection, findings)
      if let keyring { try checkSealing(keyring, connection, findings) }
      let outside = try checkSignatures(tree, snapshot, connection, findings)
      try checkPositions(tree, snapshot, connection, findings) {
        progress(.positions, $0, snapshot.length)
      }
      let users = try keyring.map { keyring in
        try checkUsers(snapshot, keyring, connection, findings) {
          progress(.users, $0, snapshot.length)
        }
      }
      let (count, first) = findings.all
      return VerificationReport(
        position: Position(snapshot.head),
        treeSize: tree.size,
        key: tree.origins.last?.verifier,
        users: users ?? 0,
        hasOutside: !self.outside.isEmpty,
        findings: count,
        first: first,
        outside: outside
      )
    }
  }

  /// Checks that the log counts as sealed, as the secret says that the keyring has opened.
  private func checkSealing(
    _ keyring: Keyring,
    _ connection: borrowing BlockingConnection,
    _ findings: Findings
  ) throws {
    let isComplete = try SealingRecord.read(connection).isComplete
    if isComplete == keyring.acceptsPlain {
      findings.note(.sealing, .sealingDiffers)
    } else if !isComplete {
      findings.note(.sealing, .notSealed)
    }
  }

  /// Checks what was signed, but for the roots that lie within the tree; gives what is wrong with
  /// the checkpoints from outside.
  private func checkSignatures(
    _ tree: StoredTree,
    _ snapshot: Snapshot,
    _ connection: borrowing BlockingConnection,
    _ findings: Findings
  ) throws -> [Finding] {
    if let key, let origin = tree.origins.last, origin.verifier != key {
      findings.note(.key, .keyDiffers(origin.verifier?.name))
    }
    for origin in tree.origins.dropLast() { try SignedRoot.check(origin, connection, findings) }
    if let origin = tree.origins.last {
      // The log may have been signed before there was an event; no stretch begins there.
      let empty = try SignedRoot.read(0...0, of: origin, connection, findings)
      if let signed = empty.first, signed.root != .emptyTree {
        findings.note(.checkpoint(0), .rootDiffers)
      }
      let ahead = try connection.query(
        """
        select size from checkpoints
         where origin = \(origin.number) and (size > \(tree.size) or size < 0) order by size
        """
      )
      for row in 0..<ahead.count {
        findings.note(.checkpoint(ahead.integer(row, 0)), .checkpointIsAhead(tree: tree.size))
      }
    }
    let unfounded = try connection.query(
      """
      select size from checkpoints c
       where not exists (select from log_origins o where o.origin = c.origin) order by size
      """
    )
    for row in 0..<unfounded.count {
      findings.note(.checkpoint(unfounded.integer(row, 0)), .checkpointIsUnfounded)
    }
    let ofOutside = Findings()
    for checkpoint in outside {
      try checkpoint.check(tree, head: snapshot.head, trusted: key, connection, ofOutside)
    }
    for finding in ofOutside.all.first { findings.note(finding.place, finding.problem) }
    return ofOutside.all.first
  }

  private func checkPositions(
    _ tree: StoredTree,
    _ snapshot: Snapshot,
    _ connection: borrowing BlockingConnection,
    _ findings: Findings,
    progress: (Int64) -> Void
  ) throws {
    try tree.check(connection, findings)
    let length = max(snapshot.length, tree.size)
    try Workers.run(Stretch.plan(length: length, tree), count: workers, progress: progress) {
      work in
      let check = try PositionCheck(snapshot, tree, findings)
      while let stretch = work.next() { try check.run(stretch, count: work.count) }
    }
    // There are only as many events as positions, so these were moved out of their place.
    let beyond = try connection.query(
      """
      select position from events where position > \(length) or position < 1 order by position
       limit \(Findings.namedLimit)
      """
    )
    for row in 0..<beyond.count {
      findings.note(.position(Position(beyond.integer(row, 0))), .positionIsBeyond)
    }
  }

  /// Gives how many users there are.
  private func checkUsers(
    _ snapshot: Snapshot,
    _ keyring: Keyring,
    _ connection: borrowing BlockingConnection,
    _ findings: Findings,
    progress: (Int64) -> Void
  ) throws -> Int64 {
    let ranges = try UserRange.plan(
      length: snapshot.length,
      count: max(snapshot.length / Self.eventsPerRange, Int64(workers) * Self.rangesPerWorker),
      connection
    )
    let users = Mutex<Int64>(0)
    try Workers.run(ranges, count: workers, progress: progress) { work in
      let check = try UserCheck(snapshot, keyring, findings)
      while let range = work.next() {
        let count = try check.run(range, count: work.count)
        users.withLock { $0 += count }
      }
    }
    return users.withLock { $0 }
  }
}
