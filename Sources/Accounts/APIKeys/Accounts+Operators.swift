import EventLog
import Postgres
public import Profiles

extension Accounts {
  /// The last use of a key is written down once in this time.
  static let keyTouch = Duration.seconds(60)

  /// Who holds the API key with this digest, which is neither revoked nor expired.
  ///
  /// Nothing is cached: a key that was revoked is refused from the next request on.
  public func `operator`(ofDigest digest: [UInt8]) async throws(AccountsError) -> Operator {
    var parameters = Parameters()
    parameters.add(digest)
    parameters.add(Self.keyTouch)
    let rows = try await read(SQL.findKey, parameters)
    guard rows.count == 1 else { throw .unauthenticated }
    let id: KeyID = rows.identifier(0, 0)
    if rows.bool(0, 3) { noteUse(of: id) }
    return Operator(
      id: id,
      name: rows.string(0, 1) ?? "",
      scopes: Scope.all(inList: rows.string(0, 2) ?? "")
    )
  }

  /// Whether the key is still neither revoked nor expired: what answers for a long time asks this
  /// now and then.
  public func isStillValid(_ key: KeyID) async throws(AccountsError) -> Bool {
    var parameters = Parameters()
    parameters.add(key)
    return try await read(SQL.checkKey, parameters).count == 1
  }

  private func noteUse(of key: KeyID) {
    later { [self] in
      var parameters = Parameters()
      parameters.add(key)
      parameters.add(Self.keyTouch)
      _ = try await transaction([(SQL.touchKey, parameters)])
    }
  }
}

extension Scope {
  /// The scopes in a list with spaces between them; what this release doesn't know allows nothing.
  static func all(inList list: String) -> [Scope] {
    list.split(separator: " ").compactMap { Scope(rawValue: String($0)) }
  }
}

extension SQL {
  /// The statements that check API keys.
  static let keys = [findKey, checkKey, touchKey]

  static let findKey = Statement(
    "find_key",
    """
    select key_id, name, array_to_string(scopes, ' '),
           last_used_at is null or last_used_at < statement_timestamp() - $2::interval
      from api_keys
     where secret_sha256 = $1::bytea and revoked_at is null
       and (expires_at is null or expires_at > statement_timestamp())
    """
  )

  static let checkKey = Statement(
    "check_key",
    """
    select from api_keys
     where key_id = $1::uuid and revoked_at is null
       and (expires_at is null or expires_at > statement_timestamp())
    """
  )

  static let touchKey = Statement(
    "touch_key",
    """
    update api_keys set last_used_at = statement_timestamp()
     where key_id = $1::uuid
       and (last_used_at is null or last_used_at < statement_timestamp() - $2::interval)
    """
  )
}
