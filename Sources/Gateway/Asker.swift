import Accounts
import EventLog
import HTTP
import Profiles

/// Who asks about a user: the user themself, or an operator.
struct Asker {
  /// The user that is asked about.
  let user: CurrentUser
  /// Who asks.
  let actor: Actor
  /// The session that is used; nil for an operator.
  let session: SessionID?
  /// Whom an Idempotency-Key belongs to.
  let principal: [UInt8]
}

extension Gateway {
  /// Who asks about the user `id`: an operator, who needs `scope`, or that user alone; nil: the
  /// user whose session it is; `writes` where the request is a command.
  func asker(
    _ request: Request,
    about id: UserID?,
    scope: Scope,
    writes: Bool = false
  ) async throws(Problem) -> Asker {
    if let id, Bearer.kind(of: request) == .apiKey {
      let found = try await self.operator(request, scope: scope)
      let user = try await user(id)
      return Asker(user: user, actor: found.actor, session: nil, principal: found.id.bytes)
    }
    let holder = try await holder(request, writes: writes)
    let own = holder.userID
    guard id == nil || id == own else { throw .notFound }
    return Asker(
      user: holder.user,
      actor: .user(own),
      session: holder.session,
      principal: own.bytes
    )
  }
}
