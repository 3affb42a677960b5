public import Clocks
import EventLog
import Postgres
public import Profiles

/// Whoever holds a session's token: the session, and the user's row as it was read with it.
public struct Holder: Sendable {
  private let rows: Rows
  private let row: Int
  /// SHA-256 of the token that was presented.
  public let tokenDigest: [UInt8]

  init(_ rows: Rows, _ row: Int, tokenDigest: [UInt8]) {
    self.rows = rows
    self.row = row
    self.tokenDigest = tokenDigest
  }

  /// The session.
  public var session: SessionID { rows.identifier(row, 1) }
  /// When the session ends, however it is used.
  public var sessionExpiresAt: Timestamp { rows.timestamp(row, 2) }
  /// Whether the session's last use should be written down again.
  var isStale: Bool { rows.bool(row, 3) }
  /// The user.
  public var userID: UserID { rows.identifier(row, 4) }
  /// The version of the profile.
  public var version: Version { Version(rows.integer(row, 5)) }
  /// When the user registered.
  public var createdAt: Timestamp { rows.timestamp(row, 8) }
  /// When the profile last changed.
  public var updatedAt: Timestamp { rows.timestamp(row, 9) }
  /// The user's row, copied.
  public var user: CurrentUser { CurrentUser(rows, row, from: 4) }

  /// Calls `body` with the bytes of the document, which are not copied.
  public func withDocument<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(rows.bytes(row, 7))
  }

  /// The sessions of a batch of token digests with their users, by the digest's place in it.
  static let statement = statement("holders", CurrentUser.fetchColumns)
  /// The same with the users' keys.
  static let writerStatement = statement("writers", CurrentUser.columns)

  private static func statement(_ name: String, _ userColumns: String) -> Statement {
    Statement(
      name,
      """
      select k.n::integer, s.session_id, s.expires_at,
             s.last_used_at < statement_timestamp() - $3::interval,
             \(userColumns)
        from unnest($1::bytea[]) with ordinality as k (token, n)
        join sessions s on s.token_sha256 = k.token
        join current_users u on u.user_id = s.user_id
       where s.expires_at > statement_timestamp()
         and s.last_used_at > statement_timestamp() - $2::interval
      """
    )
  }
}
