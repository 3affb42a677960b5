public import MerkleTree
public import Postgres

/// The beginning of a new tree under another key, after what was signed under the one before was
/// lost.
///
/// It is done as the owner of the tables: the service may not take back what it has signed.
public enum NewOrigin {
  /// Whether the log is or was signed with this key.
  public static func isKnown(
    _ verifier: NoteVerifier,
    _ connection: borrowing BlockingConnection
  ) throws -> Bool {
    var parameters = Parameters()
    parameters.add(verifier.description)
    let rows = try connection.query(
      "select exists (select from log_origins where verifier_key = $1::text)",
      parameters
    )
    return rows.bool(0, 0)
  }

  /// The name to go on under: the present one, with the first number from 2 on behind it that no
  /// former name has; nil for a log that was never signed.
  public static func nextName(_ connection: borrowing BlockingConnection) throws -> String? {
    let rows = try connection.query("select verifier_key from log_origins order by origin desc")
    return nextName(
      after: (0..<rows.count).compactMap { NoteVerifier(rows.string($0, 0) ?? "")?.name }
    )
  }

  /// The same of these names, the newest first.
  static func nextName(after names: [String]) -> String? {
    guard let last = names.first else { return nil }
    var base = last
    // Digits at the end are a number of ours only where the name before them was the log's.
    if let slash = last.lastIndex(of: "/"), Int(last[last.index(after: slash)...]) != nil,
      names.contains(String(last[..<slash]))
    {
      base = String(last[..<slash])
    }
    var number = 2
    while names.contains("\(base)/\(number)") { number += 1 }
    return "\(base)/\(number)"
  }

  /// Lets the log be signed with `verifier`'s key, and the tree be made anew of the log as it is.
  ///
  /// What was signed before stays in `checkpoints`, under the key of before. A step of a notary
  /// that is under way is waited for.
  public static func begin(
    _ verifier: NoteVerifier,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(verifier.description)
    try connection.transaction {
      try connection.query("select from notary for update")
      try connection.query(
        """
        insert into log_origins (origin, verifier_key, begun_at)
          select coalesce(max(origin), 0) + 1, $1::text, clock_timestamp() from log_origins
        """,
        parameters
      )
      try connection.query("delete from tree_tiles")
      try connection.query("delete from tree_edge")
      try connection.query("update notary set size = 0")
    }
  }
}
