public import Clocks
import EventLog
public import Postgres
public import Profiles

/// Makes, lists and revokes API keys, as the database's owner; the service can only check them.
public enum APIKeys {
  /// How long a key may live at most, where it is said for how long.
  public static let longestLife = Duration.seconds(100 * 366 * 86_400)

  /// When a key ends.
  public enum Expiry: Sendable {
    /// When it is revoked.
    case never
    /// So long after it was made.
    case after(Duration)
    /// At that instant.
    case at(Timestamp)
  }

  /// What is known of a key; never the key.
  public struct Listed: Sendable {
    /// Names the key.
    public let id: KeyID
    /// What it was called.
    public let name: String
    /// What it may be used for.
    public let scopes: [Scope]
    /// Whether it can be used.
    public let state: State
    /// When it was made.
    public let createdAt: Timestamp
    /// When it ends; nil: never.
    public let expiresAt: Timestamp?
    /// When it was revoked.
    public let revokedAt: Timestamp?
    /// When it was last used, to the minute.
    public let lastUsedAt: Timestamp?
  }

  /// Whether a key can be used.
  public enum State: String, Sendable {
    case active
    case expired
    case revoked
  }

  /// What became of a key that was to be revoked.
  public enum Revocation: Sendable {
    /// It can't be used any more.
    case revoked
    /// It was revoked before.
    case already
    /// There is none of that id.
    case notFound
  }

  private static let columns = """
    key_id, name, array_to_string(scopes, ' '), created_at, expires_at, revoked_at, last_used_at,
    expires_at <= statement_timestamp()
    """

  /// Makes a key; its text can't be had again.
  public static func create(
    name: String,
    scopes: [Scope],
    expiry: Expiry,
    _ connection: borrowing BlockingConnection
  ) throws -> (key: Token, listed: Listed) {
    let key = Token(.apiKey)
    var (instant, life): (Timestamp?, Duration?)
    switch expiry {
    case .never: break
    case .after(let duration): life = duration
    case .at(let time): instant = time
    }
    var parameters = Parameters()
    parameters.add(KeyID(at: .now()))
    parameters.add(name)
    parameters.add(key.digest)
    parameters.add(array: scopes) { $0.rawValue }
    parameters.add(instant)
    parameters.add(life)
    let rows = try connection.query(
      """
      insert into api_keys (key_id, name, secret_sha256, scopes, created_at, expires_at)
        values ($1::uuid, $2::text, $3::bytea, $4::text[], statement_timestamp(),
                coalesce($5::timestamptz, statement_timestamp() + $6::interval))
        returning \(columns)
      """,
      parameters
    )
    return (key, Listed(rows, 0))
  }

  /// All keys, the revoked and expired among them, in the order of their making.
  public static func list(_ connection: borrowing BlockingConnection) throws -> [Listed] {
    let rows = try connection.query("select \(columns) from api_keys order by created_at, key_id")
    return (0..<rows.count).map { Listed(rows, $0) }
  }

  /// Makes a key worthless from the next request on.
  public static func revoke(
    _ id: KeyID,
    _ connection: borrowing BlockingConnection
  ) throws -> Revocation {
    var parameters = Parameters()
    parameters.add(id)
    let rows = try connection.query(
      """
      update api_keys set revoked_at = coalesce(revoked_at, statement_timestamp())
       where key_id = $1::uuid returning revoked_at < statement_timestamp()
      """,
      parameters
    )
    guard rows.count == 1 else { return .notFound }
    return rows.bool(0, 0) ? .already : .revoked
  }
}

extension APIKeys.Listed {
  fileprivate init(_ rows: Rows, _ row: Int) {
    func time(_ column: Int) -> Timestamp? {
      rows.isNull(row, column) ? nil : rows.timestamp(row, column)
    }
    id = rows.identifier(row, 0)
    name = rows.string(row, 1) ?? ""
    scopes = Scope.all(inList: rows.string(row, 2) ?? "")
    createdAt = rows.timestamp(row, 3)
    expiresAt = time(4)
    revokedAt = time(5)
    lastUsedAt = time(6)
    state = revokedAt != nil ? .revoked : rows.bool(row, 7) ? .expired : .active
  }
}
