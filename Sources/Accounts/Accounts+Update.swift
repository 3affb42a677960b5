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
    _ holder: Holder,
    by patch: ProfilePatch,
    if precondition: Precondition?,
    source: Source,
    receipt: (@Sendable (CurrentUser) -> Receipt)?
  ) async throws(AccountsError) -> CurrentUser {
    try await change(
      holder.user,
      by: .updateProfile(patch),
      actor: .user(holder.userID),
      if: precondition,
      source: source,
      receipt: receipt
    )
  }

  /// Carries out `command` on the profile of `user`; see `update`.
  func change(
    _ user: CurrentUser,
    by command: Command,
    actor: Actor,
    if precondition: Precondition?,
    source: Source,
    receipt: (@Sendable (CurrentUser) -> Receipt)?
  ) async throws(AccountsError) -> CurrentUser {
    var known = try await writable(user)
    for _ in 0..<Self.attemptLimit {
      let outcome = try await chains.run(on: known) { current throws(AccountsError) in
        try decide(current, command, actor, precondition, source, receipt)
      }
      if let outcome {
        if !outcome.hasChanged, let receipt {
          try await keep([receipt(outcome.user)], about: user.id)
        }
        return outcome.user
      }
      if let session = source.session {
        known = try await load(by: session)
      } else {
        known = try await self.user(user.id)
      }
    }
    throw .overloaded
  }

  private func decide(
    _ current: CurrentUser,
    _ command: Command,
    _ actor: Actor,
    _ precondition: Precondition?,
    _ source: Source,
    _ receipt: (@Sendable (CurrentUser) -> Receipt)?
  ) throws(AccountsError) -> Chains.Decision {
    if let precondition, !precondition(current.version) { throw .preconditionFailed(current) }
    var user = try current.decidable()
    guard let event = try decide(user, command) else { return .unchanged }
    user.apply(event)
    let pending = CurrentUser(
      id: user.id,
      version: user.version,
      accessVersion: user.accessVersion,
      document: user.document,
      createdAt: current.createdAt,
      updatedAt: nil,
      key: current.key
    )
    let new = NewEvent(
      user: user.id,
      expected: current.version,
      key: try key(of: current),
      event: event,
      actor: actor,
      source: source,
      document: pending.document,
      receipt: receipt?(pending)
    )
    return .append(new, pending)
  }

  private func decide(_ user: User, _ command: Command) throws(AccountsError) -> Event? {
    do {
      return try user.decide(command).first
    } catch {
      switch error {
      case .invalid(let errors): throw .invalid(errors)
      case .changedSince(let fields): throw .changedSince(fields)
      case .suspended: throw .unauthenticated
      }
    }
  }

  /// Keeps the receipts of a command that carried no event.
  func keep(_ receipts: [Receipt], about user: UserID) async throws(AccountsError) {
    guard !receipts.isEmpty else { return }
    _ = try await transaction(receipts.map { addReceipt($0, about: user) })
  }

  /// The step that keeps a receipt whose answer tells about `user`; nothing is kept of one who has
  /// been erased meanwhile.
  func addReceipt(_ receipt: Receipt, about user: UserID?) -> (Statement, Parameters) {
    var parameters = Parameters()
    parameters.add(receipt.key)
    parameters.add(receipt.request)
    parameters.add(receipt.answer)
    parameters.add(user)
    return (SQL.addReceipt, parameters)
  }

  /// The names of the fields of a profile that changed after `version`.
  public func fieldsChanged(
    of id: UserID,
    since version: Version
  ) async throws(AccountsError) -> [String] {
    var parameters = Parameters()
    parameters.add(id)
    parameters.add(version.rawValue)
    let rows = try await read(History.fieldsChangedSince, parameters)
    return (0..<rows.count).compactMap { rows.string($0, 0) }
  }
}
