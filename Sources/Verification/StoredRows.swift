import Postgres
import Profiles
import Projections

/// The rows of a table that has one for each user, in the order of their users, beside what the log
/// says of the same users; rows of users whom the log doesn't know are noted in passing.
struct StoredRows {
  private var cursor: UserCursor
  private let findings: Findings
  private let unfounded: Problem

  /// The rows of `query`, whose first column is the user and which ends with a condition, of a range;
  /// `unfounded` is what is wrong with one that nobody is known for.
  init(
    _ name: String,
    _ query: String,
    _ range: UserRange,
    unfounded: Problem,
    _ findings: Findings,
    _ connection: borrowing BlockingConnection
  ) throws {
    self.findings = findings
    self.unfounded = unfounded
    cursor = try UserCursor(name, query + range.condition(), connection)
  }

  /// The rows that were read last.
  var rows: Rows { cursor.rows }

  /// The present one among them.
  var index: Int { cursor.index }

  /// Whether there is a row of `user`, which then is the present one.
  mutating func find(
    _ user: UserID,
    _ connection: borrowing BlockingConnection
  ) throws -> Bool {
    try cursor.find(user, connection, noteUnfounded)
  }

  /// Goes on behind the present row.
  mutating func advance(_ connection: borrowing BlockingConnection) throws {
    try cursor.advance(connection)
  }

  /// Leaves out the row of `user`, if there is one.
  mutating func skip(_ user: UserID, _ connection: borrowing BlockingConnection) throws {
    if try find(user, connection) { try advance(connection) }
  }

  /// Notes what is left.
  mutating func finish(_ connection: borrowing BlockingConnection) throws {
    try cursor.finish(connection, noteUnfounded)
  }

  /// Notes that nobody is known for the row of `user`.
  func noteUnfounded(_ user: UserID) { findings.note(.user(user), unfounded) }
}
