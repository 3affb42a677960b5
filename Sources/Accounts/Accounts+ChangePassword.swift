import Clocks
public import EventLog
public import JSON
import Keys
import Postgres
import Profiles

extension Accounts {
  /// Changes the password of `holder` as `body` says: `{oldPassword,newPassword,confirmPassword}`.
  ///
  /// Every other session of the user ends in the same transaction, and the acting one goes on
  /// under the fresh token that is returned.
  public func changePassword(
    _ holder: Holder,
    _ body: JSON,
    source: Source,
    receipts: @Sendable (OpenedSession) -> [Receipt]
  ) async throws(AccountsError) -> OpenedSession {
    let change = try read(body, for: try holder.user.decidable())
    var renewed: PasswordHashing.Stored?
    // What the password is checked against may change meanwhile; then it is checked again.
    for _ in 0..<Self.attemptLimit {
      guard let stored = try await credentials(of: holder.userID), let old = change.old,
        try await hashing.verify(old, against: stored.hash)
      else {
        // Whoever has been erased meanwhile has no password that could be wrong.
        _ = try await load(by: holder.session)
        throw .password(
          .wrongPassword,
          FieldError(.wrongPassword, at: "/oldPassword", "The old password is wrong.")
        )
      }
      let current = try await load(by: holder.session)
      let key = try key(of: current)
      let new: PasswordHashing.Stored
      if let renewed { new = renewed } else { new = try await hashing.make(change.new) }
      renewed = new
      let opened = OpenedSession(
        id: holder.session,
        token: Token(),
        createdAt: .now(),
        expiresAt: min(.now() + rules.lifetimes.idle, holder.sessionExpiresAt),
        user: current
      )
      do {
        try await replace(
          stored,
          by: new,
          in: opened,
          on: current,
          key,
          source,
          receipts(opened)
        )
        return opened
      } catch .versionConflict {
        continue
      } catch .stale {
        // Throws where the acting session is what has ended.
        _ = try await self.holder(ofDigest: holder.tokenDigest)
      } catch {
        throw AccountsError(error)
      }
    }
    throw .overloaded
  }

  private func read(_ body: JSON, for user: User) throws(AccountsError) -> PasswordChange {
    do {
      return try PasswordChange.read(
        body,
        policy: rules.passwords,
        person: PersonalWords(user)
      )
    } catch {
      switch error {
      case .invalid(let fields): throw .invalid(fields.errors)
      case .rule(let code, let error): throw .password(code, error)
      }
    }
  }

  func credentials(
    of id: UserID
  ) async throws(AccountsError) -> PasswordHashing.Stored? {
    var parameters = Parameters()
    parameters.add(id)
    let rows = try await read(SQL.loadCredentials, parameters)
    guard rows.count == 1 else { return nil }
    return rows.string(0, 0).map(PasswordHashing.Stored.init(hash:))
  }

  private func replace(
    _ old: PasswordHashing.Stored,
    by new: PasswordHashing.Stored,
    in opened: OpenedSession,
    on current: CurrentUser,
    _ key: DataKey,
    _ source: Source,
    _ receipts: [Receipt]
  ) async throws(AppendError) {
    var parameters = Parameters()
    parameters.add(current.id)
    parameters.add(old.commitment.bytes)
    parameters.add(new.hash)
    parameters.add(new.commitment.bytes)
    parameters.add(opened.id)
    parameters.add(opened.token.digest)
    let event = NewEvent(
      user: current.id,
      expected: current.version,
      key: key,
      event: .passwordChanged(new.commitment),
      actor: .user(current.id),
      source: source
    )
    _ = try await transaction(
      [(SQL.changePassword, parameters)] + receipts.map { addReceipt($0, about: current.id) },
      then: event
    )
  }
}
