public import EventLog
public import Profiles

extension Accounts {
  /// Undoes the change that made `version`, as a new change of `user` by `actor`.
  ///
  /// With `overwrites` also where fields of it were changed since. Otherwise as `update`.
  public func revert(
    _ version: Version,
    of user: CurrentUser,
    overwrites: Bool,
    by actor: Actor,
    if precondition: Precondition?,
    source: Source,
    receipt: (@Sendable (CurrentUser) -> Receipt)?
  ) async throws(AccountsError) -> CurrentUser {
    let found = try await history(
      of: user.id,
      stream: .profile,
      order: .oldestFirst,
      after: Version(version.rawValue - 1),
      limit: 1
    )
    guard let recorded = found.first, recorded.version == version else { throw .noSuchVersion }
    let event: Event
    do {
      event = try recorded.event()
    } catch .coding(.erased) {
      throw try await absence(of: user.id)
    } catch {
      throw .unreadableEvent(recorded.position, reason: "\(error)")
    }
    let reversion = Reversion(
      of: event,
      version: version,
      overwrites: overwrites,
      schema: rules.schema,
      today: Self.today()
    )
    guard let reversion else { throw .notRevertible(type: event.type) }
    return try await change(
      user,
      by: .revert(reversion),
      actor: actor,
      if: precondition,
      source: source,
      receipt: receipt
    )
  }
}
