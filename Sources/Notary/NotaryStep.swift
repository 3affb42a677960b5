import EventLog
import MerkleTree
import Postgres
import Sodium

/// One step of the notary, in one transaction: takes events into the tree, and signs it.
///
/// The lock of the row in `notary` makes it right whoever else does it at the same time. A process
/// may be killed anywhere in it: either all of it has happened, or the checkpoint's file alone is
/// ahead of the database, by a tree that the log has and any process comes to.
struct NotaryStep {
  /// What a step did.
  enum Outcome: Equatable {
    /// Another process is at it.
    case busy
    /// Payloads of the log are not all sealed yet.
    case waitsForSealing
    /// All is signed.
    case idle
    /// There is something to sign, after this time.
    case notDue(Duration)
    /// It took events in, and may have signed; there may be more.
    case advanced(isSigned: Bool)
  }

  /// What stands in the tables at its begin.
  private struct Standing {
    /// Leaves of the tree.
    let size: Int64
    /// The last position of the log.
    let head: Int64
    let isSealed: Bool
  }

  /// The last checkpoint, and how long ago it was signed.
  private struct Last {
    let checkpoint: TreeQuery.StoredCheckpoint
    let age: Duration
  }

  /// The key in use by its number, and those of before.
  private struct Origin {
    let number: Int32
    let former: [NoteVerifier]
  }

  let signer: NoteSigner
  let file: CheckpointFile?
  let pace: NotaryPace
  /// Whether to see that tree and checkpoints fit together even where nothing is to be signed;
  /// given the note of the last checkpoint.
  let rechecks: (String) -> Bool

  private var verifier: NoteVerifier { signer.verifier }

  /// Takes the step; throws a `NotaryRefusal` where nothing may be signed.
  func run(_ connection: borrowing BlockingConnection) throws -> Outcome {
    do {
      return try connection.transaction { () throws -> Outcome in
        guard let standing = try standing(connection) else {
          guard try connection.query("select from notary").count == 1 else {
            throw NotaryRefusal.rowIsMissing(table: "notary")
          }
          return .busy
        }
        guard standing.isSealed else { return .waitsForSealing }
        guard Position(standing.size).isPossible else { throw NotaryRefusal.treeIsDamaged }
        let origin = try origin(connection)
        let last = try last(connection)
        guard standing.head >= standing.size else {
          throw NotaryRefusal.logIsShorter(head: standing.head, size: standing.size)
        }
        let backlog = standing.head - standing.size
        if let last, backlog == 0, last.checkpoint.size == standing.size {
          if rechecks(last.checkpoint.note) { try recheck(standing, origin, last, connection) }
          return .idle
        }
        if let last, last.age >= .zero, last.age < pace.interval, backlog < pace.batch {
          return .notDue(pace.interval - last.age)
        }
        return try advance(standing, origin, last, connection)
      }
    } catch let failure as BlockingConnection.Failure where failure.isBrokenConstraint {
      // A tile is there that was not yet full, or a checkpoint that is not the last one.
      throw NotaryRefusal.treeIsDamaged
    }
  }

  /// Nil where another process has locked the row.
  private func standing(_ connection: borrowing BlockingConnection) throws -> Standing? {
    let rows = try connection.query("select size from notary for update skip locked")
    guard rows.count == 1 else { return nil }
    let sealing = try connection.query("select is_complete from sealing")
    guard sealing.count == 1 else { throw NotaryRefusal.rowIsMissing(table: "sealing") }
    // Behind the lock, so that it is not behind the tree.
    let head = try connection.query("select coalesce(max(position), 0) from events")
    return Standing(
      size: rows.integer(0, 0),
      head: head.integer(0, 0),
      isSealed: sealing.bool(0, 0)
    )
  }

  private func origin(_ connection: borrowing BlockingConnection) throws -> Origin {
    let rows = try connection.query("select origin, verifier_key from log_origins order by origin")
    guard rows.count > 0 else {
      var parameters = Parameters()
      parameters.add(verifier.description)
      try connection.query(
        "insert into log_origins values (1, $1::text, clock_timestamp())",
        parameters
      )
      return Origin(number: 1, former: [])
    }
    let last = rows.count - 1
    let key = rows.string(last, 1) ?? ""
    guard key == verifier.description else {
      let names = [NoteVerifier(key), verifier].map { verifier in
        verifier.map { "\($0.name)+\($0.keyIDText)" } ?? "an unreadable name"
      }
      throw NotaryRefusal.keyDiffers(origin: names[0], file: names[1])
    }
    return Origin(
      number: rows.integer(last, 0),
      former: (0..<last).compactMap { NoteVerifier(rows.string($0, 1) ?? "") }
    )
  }

  private func last(_ connection: borrowing BlockingConnection) throws -> Last? {
    let rows = try connection.query(TreeQuery.checkpoint.sql)
    guard let checkpoint = TreeQuery.checkpoint(rows) else { return nil }
    var parameters = Parameters()
    parameters.add(checkpoint.origin)
    parameters.add(checkpoint.size)
    let age = try connection.query(
      """
      select (extract(epoch from clock_timestamp() - signed_at) * 1000000)::bigint
        from checkpoints where origin = $1::integer and size = $2::bigint
      """,
      parameters
    )
    return Last(checkpoint: checkpoint, age: .microseconds(age.integer(0, 0, as: Int64.self)))
  }

  private func recheck(
    _ standing: Standing,
    _ origin: Origin,
    _ last: Last,
    _ connection: borrowing BlockingConnection
  ) throws {
    let growth = try TreeGrowth(size: standing.size, connection)
    let contents = try file?.read(verifier, former: origin.former)
    _ = try check(growth, last, contents, standing, connection)
    guard let note = SignedNote(Array(last.checkpoint.note.utf8)) else { return }
    try keep(note, contents)
  }

  private func advance(
    _ standing: Standing,
    _ origin: Origin,
    _ last: Last?,
    _ connection: borrowing BlockingConnection
  ) throws -> Outcome {
    var growth = try TreeGrowth(size: standing.size, connection)
    // Ends with a tile, but for the last one.
    let width = Int64(TileID.fullWidth)
    let end = min(standing.head, (standing.size + pace.batch) / width * width)
    try growth.takeIn(upTo: end, connection)
    try growth.write(connection)
    if let last, last.age >= .zero, last.age < pace.interval {
      return .advanced(isSigned: false)
    }
    let contents = try file?.read(verifier, former: origin.former)
    guard try check(growth, last, contents, standing, connection) else {
      return .advanced(isSigned: false)
    }
    let checkpoint = Checkpoint(
      origin: verifier.name,
      size: growth.edge.size,
      root: growth.edge.root
    )
    let note = checkpoint.signed(by: signer)
    // Before the commit: what anybody can have seen is in the file.
    try keep(note, contents)
    var parameters = Parameters()
    parameters.add(origin.number)
    parameters.add(checkpoint.size)
    parameters.add(checkpoint.root.bytes)
    parameters.add(note.description)
    try connection.query(
      """
      insert into checkpoints (origin, size, root, note, signed_at)
        values ($1::integer, $2::bigint, $3::bytea, $4::text, clock_timestamp())
      """,
      parameters
    )
    return .advanced(isSigned: true)
  }

  /// Sees that the tree holds what was signed, as database and file have it; false where the file is
  /// ahead of the tree and not of the log, so that more has to be taken in first.
  private func check(
    _ growth: TreeGrowth,
    _ last: Last?,
    _ contents: CheckpointFile.Contents?,
    _ standing: Standing,
    _ connection: borrowing BlockingConnection
  ) throws -> Bool {
    if let last = last?.checkpoint {
      guard let note = SignedNote(Array(last.note.utf8)),
        let checkpoint = Checkpoint(note, by: verifier),
        checkpoint.size == last.size, checkpoint.root == last.root
      else { throw NotaryRefusal.checkpointIsInvalid(size: last.size) }
      guard try growth.root(ofTreeOf: last.size, connection) == checkpoint.root else {
        throw NotaryRefusal.treeDiffers(size: last.size)
      }
    }
    guard case .own(let checkpoint, _)? = contents else { return true }
    guard checkpoint.size <= standing.head else {
      throw NotaryRefusal.checkpointFileIsAhead(size: checkpoint.size, head: standing.head)
    }
    guard checkpoint.size <= growth.edge.size else { return false }
    guard try growth.root(ofTreeOf: checkpoint.size, connection) == checkpoint.root else {
      throw NotaryRefusal.checkpointFileDiffers(size: checkpoint.size)
    }
    return true
  }

  /// Puts `note` into the file, unless it is there.
  private func keep(_ note: SignedNote, _ contents: CheckpointFile.Contents?) throws {
    guard let file else { return }
    switch contents {
    case .own(_, note)?: return
    case .former(let verifier)?: try file.putAside(verifier)
    default: break
    }
    try file.write(note)
  }
}

extension BlockingConnection.Failure {
  /// A unique key or a check of a table has refused.
  fileprivate var isBrokenConstraint: Bool { sqlState == "23505" || sqlState == "23514" }
}
