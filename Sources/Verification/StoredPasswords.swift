import EventLog
import Postgres
import Profiles
import Projections
import Sodium

/// Holds `credentials` against what the log commits to, both in the order of their users.
struct StoredPasswords {
  /// What an event says of a user's password.
  typealias Committed = (commitment: Commitment, position: Position)

  private var stored: StoredRows
  private let findings: Findings

  init(
    _ range: UserRange,
    _ findings: Findings,
    _ connection: borrowing BlockingConnection
  ) throws {
    self.findings = findings
    stored = try StoredRows(
      "passwords",
      "select user_id, password_hash, commitment from credentials where true",
      range,
      unfounded: .passwordIsUnfounded,
      findings,
      connection
    )
  }

  /// Compares what is stored for `user` with the last commitment of their events.
  mutating func compare(
    _ user: UserID,
    with committed: Committed?,
    _ connection: borrowing BlockingConnection
  ) throws {
    guard try stored.find(user, connection) else {
      if let committed { findings.note(.user(user), .passwordIsMissing(committed.position)) }
      return
    }
    let digest = SHA256.digest(of: stored.rows.bytes(stored.index, 1))
    if let committed {
      if digest != committed.commitment.bytes {
        findings.note(.user(user), .passwordDiffers(committed.position))
      }
    } else {
      stored.noteUnfounded(user)
    }
    if !stored.rows.bytes(stored.index, 2).elementsEqual(digest) {
      findings.note(.user(user), .commitmentDiffers)
    }
    try stored.advance(connection)
  }

  /// Leaves out what is stored for `user`, whose events can't be read.
  mutating func skip(_ user: UserID, _ connection: borrowing BlockingConnection) throws {
    try stored.skip(user, connection)
  }

  /// Notes what is left.
  mutating func finish(_ connection: borrowing BlockingConnection) throws {
    try stored.finish(connection)
  }
}
