import EventLog
import Keys
import Postgres
import Profiles

extension Accounts {
  /// The same user with their key, read again where they were read without.
  func writable(_ user: CurrentUser) async throws(AccountsError) -> CurrentUser {
    user.key == nil ? try await self.user(user.id) : user
  }

  /// The key that seals what happens to `user`, who was read to write.
  func key(of user: CurrentUser) throws(AccountsError) -> DataKey {
    do throws(KeyError) {
      guard let wrapped = user.key else { throw .destroyed }
      return try keyring.unwrap(wrapped, of: user.id)
    } catch {
      throw .keyUnavailable(user.id, reason: error.description)
    }
  }

  /// The step that keeps the key of a new user.
  func addKey(
    _ key: DataKey,
    of user: UserID
  ) throws(AccountsError) -> (Statement, Parameters) {
    let wrapped: WrappedKey
    do {
      wrapped = try keyring.wrap(key, for: user)
    } catch {
      throw .keyUnavailable(user, reason: error.description)
    }
    var parameters = Parameters()
    parameters.add(user)
    parameters.add(wrapped.masterKey)
    parameters.add(wrapped.bytes)
    return (SQL.addUserKey, parameters)
  }

  /// Takes the master key into use that the database names: a rotation has changed it.
  ///
  /// `user` is who is about to be registered.
  func followMasterKey(for user: UserID) async throws(AccountsError) {
    let rows = try await read(SQL.masterKeyInUse, Parameters())
    do {
      try keyring.use(
        .init(number: rows.integer(0, 0), wrappedSecret: Array(rows.bytes(0, 1)))
      )
    } catch {
      throw .keyUnavailable(user, reason: error.description)
    }
  }
}

extension SQL {
  static let addUserKey = Statement(
    "add_user_key",
    "select from add_user_key($1::uuid, $2::integer, $3::bytea)"
  )

  static let masterKeyInUse = Statement(
    "master_key_in_use",
    "select coalesce(master_key, 0), coalesce(wrapped_secret, '') from sealing"
  )
}
