import Postgres
import Profiles
import Projections

/// Sees that `user_keys` has keys of those alone whom the log knows; that nobody lacks theirs is told
/// by the payloads, which don't open.
struct StoredKeys {
  private var stored: UserCursor
  private let findings: Findings

  init(
    _ range: UserRange,
    _ findings: Findings,
    _ connection: borrowing BlockingConnection
  ) throws {
    self.findings = findings
    stored = try UserCursor(
      "keys",
      "select user_id from user_keys where true\(range.condition())",
      connection
    )
  }

  /// Leaves out the key of `user`, who has events.
  mutating func skip(_ user: UserID, _ connection: borrowing BlockingConnection) throws {
    if try stored.find(user, connection, noteUnfounded) { try stored.advance(connection) }
  }

  /// Notes what is left.
  mutating func finish(_ connection: borrowing BlockingConnection) throws {
    try stored.finish(connection, noteUnfounded)
  }

  private func noteUnfounded(_ user: UserID) {
    findings.note(.user(user), .keyIsUnfounded)
  }
}
