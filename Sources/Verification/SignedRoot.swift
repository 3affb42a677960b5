import MerkleTree
import Postgres
import Sodium

/// What the log's key has signed: the root of the tree of so many leaves.
struct SignedRoot {
  let size: Int64
  let root: TreeHash

  /// The columns of `checkpoints` that are read.
  private static let columns = "size, root, note"
  private static let fetchSize = 1_000

  /// The checkpoints of `origin` with sizes in `sizes`, in their order.
  ///
  /// Of those that are not what they should be `findings` are told instead.
  static func read(
    _ sizes: ClosedRange<Int64>,
    of origin: LogOrigin,
    _ connection: borrowing BlockingConnection,
    _ findings: Findings
  ) throws -> [SignedRoot] {
    let rows = try connection.query(
      """
      select \(columns) from checkpoints
       where origin = \(origin.number)
         and size >= \(sizes.lowerBound) and size <= \(sizes.upperBound)
       order by size
      """
    )
    return (0..<rows.count).compactMap { SignedRoot(rows, $0, of: origin, findings) }
  }

  /// Checks the checkpoints of a former origin, as far as they can be checked: the tree that they
  /// speak of may be lost.
  static func check(
    _ origin: LogOrigin,
    _ connection: borrowing BlockingConnection,
    _ findings: Findings
  ) throws {
    try connection.script(
      """
      declare former no scroll cursor for
        select \(columns) from checkpoints where origin = \(origin.number) order by size
      """
    )
    while true {
      let rows = try connection.query("fetch forward \(fetchSize) from former")
      guard rows.count > 0 else { break }
      for row in 0..<rows.count { _ = SignedRoot(rows, row, of: origin, findings) }
    }
    try connection.script("close former")
  }

  /// The checkpoint in row `row`; nil where it is not what it should be.
  private init?(_ rows: Rows, _ row: Int, of origin: LogOrigin, _ findings: Findings) {
    let size: Int64 = rows.integer(row, 0)
    guard let note = SignedNote(rows.bytes(row, 2)), let read = Checkpoint(text: note.text) else {
      findings.note(.checkpoint(size), .noteIsNone)
      return nil
    }
    guard let verifier = origin.verifier, Checkpoint(note, by: verifier) != nil else {
      findings.note(.checkpoint(size), .noteIsNotSigned)
      return nil
    }
    guard read.size == size, TreeHash(rows.bytes(row, 1)) == read.root else {
      findings.note(.checkpoint(size), .noteDiffers)
      return nil
    }
    (self.size, root) = (size, read.root)
  }
}
