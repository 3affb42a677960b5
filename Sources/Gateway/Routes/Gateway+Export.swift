import Accounts
import Clocks
import HTTP
import Profiles

extension Gateway {
  /// Answers `GET /v1/users/{me or id}/export`: all that is held about a user, as one document.
  func export(_ request: Request, id: UserID?) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    let accounts = accounts
    let user: CurrentUser
    let check: @Sendable () async throws -> Void
    if let id, Bearer.kind(of: request) == .apiKey {
      // Histories are part of it, and a profile.
      let reader = try await self.operator(request, scope: .auditRead)
      guard Scope.usersRead.isAllowed(by: reader.scopes) else { throw .insufficient(.usersRead) }
      user = try await self.user(id)
      check = { try await accounts.checkStillValid(reader) }
    } else {
      let holder = try await holder(request)
      guard id == nil || id == holder.userID else { throw .notFound }
      user = holder.user
      check = { _ = try await accounts.holder(ofDigest: holder.tokenDigest) }
    }
    var response = Response(
      status: 200,
      contentType: "application/json",
      stream: { writer in
        try await accounts.export(user, check: check) { try await writer.write($0) }
      }
    )
    let time = Timestamp.now().description.prefix(19).filter { $0 != "-" && $0 != ":" }
    response.add("Content-Disposition", "attachment; filename=\"jejak-user-\(time)Z.json\"")
    response.add("Cache-Control", "private, no-store")
    return response
  }
}
