public import EventLog
import Postgres
public import Profiles

extension Accounts {
  /// Which versions of a profile a command may change; nil: any.
  public typealias Precondition = @Sendable (Version) -> Bool

  /// Changes the profile of `holder` by `patch`; nothing is appended where that changes nothing.
  ///
  /// Without a precondition a command that another overtook is decided again on the new state, so
  /// that both changes stay. With one it fails as soon as the present version doesn't hold it.
  public func update(
    _ holder: Holder, by patch: ProfilePatch, if precondition: Precondition?, source: Source,
    receipt: (@Sendable (CurrentUser) -> Receipt)?
  ) async throws(AccountsError) -> CurrentUser {
    let known = try await turns.take(holder.user)
    do throws(AccountsError) {
      let user = try await update(
        known, of: holder.userID, by: patch, if: precondition, source, receipt)
      turns.pass(holder.userID, user)
      return user
    } catch {
      // A refusal of this command says nothing against the state it was refused on, but the
      // state is not at hand here; the next one loads it.
      turns.pass(holder.userID, nil)
      throw error
    }
  }

  private func update(
    _ known: CurrentUser?, of id: UserID, by patch: ProfilePatch, if precondition: Precondition?,
    _ source: Source, _ receipt: (@Sendable (CurrentUser) -> Receipt)?
  ) async throws(AccountsError) -> CurrentUser {
    var known = known
    for _ in 0..<Self.attemptLimit {
      let current: CurrentUser
      if let known { current = known } else { current = try await load(id) }
      if let precondition, !precondition(current.version) { throw .preconditionFailed(current) }
      var user = try current.decidable()
      guard let event = try decide(user, patch) else {
        if let receipt { try await keep([receipt(current)]) }
        return current
      }
      user.apply(event)
      let pending = CurrentUser(
        id: id, version: user.version, accessVersion: user.accessVersion,
        document: user.document, createdAt: current.createdAt, updatedAt: nil)
      let new = NewEvent(
        user: id, expected: current.version, event: event, actor: .user(id), source: source,
        document: pending.document, receipt: receipt?(pending))
      do {
        let appended = try await appends.append(new)
        return CurrentUser(
          id: id, version: appended.version, accessVersion: current.accessVersion,
          document: pending.document, createdAt: current.createdAt,
          updatedAt: appended.recordedAt)
      } catch .versionConflict {
        known = nil
      } catch {
        throw AccountsError(error)
      }
    }
    throw .overloaded
  }

  private func decide(_ user: User, _ patch: ProfilePatch) throws(AccountsError) -> Event? {
    do {
      return try user.decide(.updateProfile(patch)).first
    } catch {
      switch error {
      case .invalid(let errors): throw .invalid(errors)
      case .suspended: throw .unauthenticated
      }
    }
  }

  /// Keeps the receipts of a command that carried no event.
  func keep(_ receipts: [Receipt]) async throws(AccountsError) {
    guard !receipts.isEmpty else { return }
    _ = try await transaction(receipts.map(addReceipt))
  }

  /// The step that keeps a receipt.
  func addReceipt(_ receipt: Receipt) -> (Statement, Parameters) {
    var parameters = Parameters()
    parameters.add(receipt.key)
    parameters.add(receipt.request)
    parameters.add(receipt.answer)
    return (SQL.addReceipt, parameters)
  }

  /// The names of the fields of a profile that changed after `version`.
  public func fieldsChanged(
    of id: UserID, since version: Version
  ) async throws(AccountsError) -> [String] {
    var parameters = Parameters()
    parameters.add(id)
    parameters.add(version.rawValue)
    let rows = try await read(History.fieldsChangedSince, parameters)
    return (0..<rows.count).compactMap { rows.string($0, 0) }
  }
}
