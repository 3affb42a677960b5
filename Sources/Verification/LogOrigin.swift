import MerkleTree
import Postgres

/// A key that the log is or was signed with.
struct LogOrigin: Sendable {
  /// Its number among all of them; the last one is in use.
  let number: Int32
  /// The public key; nil where the table has none.
  let verifier: NoteVerifier?

  /// All of them, in their order.
  static func read(_ connection: borrowing BlockingConnection) throws -> [LogOrigin] {
    let rows = try connection.query("select origin, verifier_key from log_origins order by origin")
    return (0..<rows.count).map { row in
      LogOrigin(
        number: rows.integer(row, 0),
        verifier: rows.string(row, 1).flatMap { NoteVerifier($0) }
      )
    }
  }
}
