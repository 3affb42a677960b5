import Postgres
import Profiles
import Projections

/// Holds `email_claims` against the addresses that the log has: each user has the claim of their own,
/// and no other.
struct StoredClaims {
  private var stored: StoredRows
  private let findings: Findings

  init(
    _ range: UserRange,
    _ findings: Findings,
    _ connection: borrowing BlockingConnection
  ) throws {
    self.findings = findings
    stored = try StoredRows(
      "claims",
      "select user_id, email from email_claims where true",
      range,
      unfounded: .claimIsUnfounded,
      findings,
      connection
    )
  }

  /// Compares the claim of `user` with the address that they have; nil for one that isn't known, or
  /// of whom it is told elsewhere that nothing may be left.
  mutating func compare(
    _ user: UserID,
    with address: EmailAddress?,
    _ connection: borrowing BlockingConnection
  ) throws {
    guard try stored.find(user, connection) else {
      if address != nil { findings.note(.user(user), .claimIsMissing) }
      return
    }
    if let address, stored.rows.string(stored.index, 1) != address.claimKey {
      findings.note(.user(user), .claimDiffers)
    }
    try stored.advance(connection)
  }

  /// Notes what is left.
  mutating func finish(_ connection: borrowing BlockingConnection) throws {
    try stored.finish(connection)
  }
}
