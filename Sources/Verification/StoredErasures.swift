import Clocks
import EventLog
import Postgres
import Profiles
import Projections

/// Holds `erasures`, and the tables that an erasure empties, against what the log says of them.
struct StoredErasures {
  /// What may have no row of a user who has been erased; the read model and the passwords are
  /// compared with the log anyway.
  private static let emptied = [
    "user_keys", "sessions", "email_claims", "command_receipts", "directory",
  ]

  private var stored: StoredRows
  private var erased: [UserID] = []
  private let findings: Findings

  init(
    _ range: UserRange,
    _ findings: Findings,
    _ connection: borrowing BlockingConnection
  ) throws {
    self.findings = findings
    stored = try StoredRows(
      "erased",
      "select user_id, position, erased_at from erasures where true",
      range,
      unfounded: .erasureIsUnfounded,
      findings,
      connection
    )
  }

  /// Compares what is stored of `user` with the event that erased them, if one did, at that time.
  mutating func compare(
    _ user: UserID,
    with erasure: Position?,
    at time: Timestamp?,
    _ connection: borrowing BlockingConnection
  ) throws {
    if erasure != nil { erased.append(user) }
    guard try stored.find(user, connection) else {
      if let erasure { findings.note(.user(user), .erasureIsMissing(erasure)) }
      return
    }
    let position = Position(stored.rows.integer(stored.index, 1))
    if erasure != position || time != stored.rows.timestamp(stored.index, 2) {
      findings.note(.user(user), .erasureIsUnfounded)
    }
    try stored.advance(connection)
  }

  /// Notes what is left, of the table and of those who have been erased.
  mutating func finish(_ connection: borrowing BlockingConnection) throws {
    try stored.finish(connection)
    guard !erased.isEmpty else { return }
    var parameters = Parameters()
    parameters.add(array: erased) { $0 }
    for table in Self.emptied {
      let rows = try connection.query(
        "select distinct user_id from \(table) where user_id = any ($1::uuid[]) order by 1",
        parameters
      )
      for row in 0..<rows.count { findings.note(.user(rows.identifier(row, 0)), .remains(table)) }
    }
  }
}
