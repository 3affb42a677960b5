import EventLog
public import MerkleTree
import Postgres

/// A checkpoint that was kept outside the database, which the log is held against.
public struct OutsideCheckpoint: Sendable {
  private static let fetchSize = 4_096

  private let note: SignedNote
  private let checkpoint: Checkpoint

  /// Which log it is of.
  public var origin: String { checkpoint.origin }
  /// How many events it speaks for.
  public var size: Int64 { checkpoint.size }

  /// The checkpoint in these bytes; nil where they are none.
  public init?(_ bytes: [UInt8]) {
    guard let note = SignedNote(bytes), let checkpoint = Checkpoint(text: note.text) else {
      return nil
    }
    self.note = note
    self.checkpoint = checkpoint
  }

  /// Whether it is signed by the key.
  public func isSigned(by verifier: NoteVerifier) -> Bool {
    Checkpoint(note, by: verifier) != nil
  }

  /// Notes where the log has not grown out of what was signed.
  func check(
    _ tree: StoredTree,
    head: Int64,
    trusted: NoteVerifier?,
    _ connection: borrowing BlockingConnection,
    _ findings: Findings
  ) throws {
    let place = Finding.Place.checkpoint(checkpoint.size)
    let verifiers = tree.origins.compactMap(\.verifier) + (trusted.map { [$0] } ?? [])
    guard verifiers.contains(where: isSigned) else {
      return findings.note(place, .outsideIsNotSigned)
    }
    if checkpoint.size > max(head, tree.size) {
      return findings.note(place, .outsideIsAhead(head: head))
    }
    let root =
      checkpoint.size <= tree.size
      ? try tree.root(ofTreeOf: checkpoint.size, connection) : try grown(tree, connection)
    if root != checkpoint.root { findings.note(place, .outsideDiffers) }
    try checkRow(tree, place, connection, findings)
  }

  /// The root with events that the tree doesn't have yet: a file may be a step ahead of it.
  private func grown(
    _ tree: StoredTree,
    _ connection: borrowing BlockingConnection
  ) throws -> TreeHash? {
    guard var edge = tree.rightEdge else { return nil }
    while edge.size < checkpoint.size {
      let reached = min(checkpoint.size, edge.size + Int64(Self.fetchSize))
      let rows = try connection.query(
        """
        select \(LogEntry.columns) from events
         where position > \(edge.size) and position <= \(reached) order by position
        """
      )
      guard Int64(rows.count) == reached - edge.size else { return nil }
      for row in 0..<rows.count {
        guard let entry = LogEntry(rows, row) else { return nil }
        edge.append(entry.leaf) { _ in }
      }
    }
    return edge.root
  }

  /// Whatever was signed is kept, so the database has a row of the same size, once its tree has come
  /// so far.
  private func checkRow(
    _ tree: StoredTree,
    _ place: Finding.Place,
    _ connection: borrowing BlockingConnection,
    _ findings: Findings
  ) throws {
    guard checkpoint.size <= tree.size,
      let origin = tree.origins.first(where: { $0.verifier?.name == checkpoint.origin })
    else { return }
    let rows = try connection.query(
      """
      select from checkpoints where origin = \(origin.number) and size = \(checkpoint.size)
      """
    )
    if rows.count == 0 { findings.note(place, .checkpointIsMissing) }
  }
}
