import Accounts
import HTTP
import Profiles

extension Gateway {
  /// Answers `GET /v1/users/me`.
  func fetch(_ request: Request) async throws(Problem) -> Response {
    guard request.query == nil else { return try await fetchPast(request, id: nil) }
    return try answer(request, try await holder(request))
  }

  /// Answers `GET /v1/users/{id}`: to an operator anybody's, to a user their own alone.
  func fetch(_ request: Request, id: UserID) async throws(Problem) -> Response {
    guard request.query == nil else { return try await fetchPast(request, id: id) }
    if Bearer.kind(of: request) == .apiKey {
      return try answer(request, try await asker(request, about: id, scope: .usersRead).user)
    }
    let holder = try await holder(request)
    guard id == holder.userID else { throw .notFound }
    return try answer(request, holder)
  }

  private func answer(_ request: Request, _ holder: Holder) throws(Problem) -> Response {
    if let unchanged = try unchanged(request, holder.version) { return unchanged }
    let body = holder.withDocument { document in
      var body: [UInt8] = []
      body.reserveCapacity(document.count + 128)
      body += document
      UserDocument.finish(
        &body,
        version: holder.version,
        createdAt: holder.createdAt,
        updatedAt: holder.updatedAt
      )
      return body
    }
    return UserDocument.response(status: 200, version: holder.version, body: body)
  }

  /// Any user, for an operator.
  func user(_ id: UserID) async throws(Problem) -> CurrentUser {
    do {
      return try await accounts.user(id)
    } catch {
      throw Problem(error)
    }
  }

  /// The answer that shows `user` as they are or were.
  func answer(_ request: Request, _ user: CurrentUser) throws(Problem) -> Response {
    try unchanged(request, user.version) ?? UserDocument.response(status: 200, user)
  }

  /// The 304 to a request that names `version` in `If-None-Match`; nil where it doesn't.
  private func unchanged(
    _ request: Request,
    _ version: Version
  ) throws(Problem) -> Response? {
    guard request.headerBytes("If-None-Match") != nil, try isUnchanged(request, version) else {
      return nil
    }
    var response = Response(status: 304)
    response.add("ETag", EntityTag.text(version))
    response.add("Cache-Control", "private, no-cache")
    return response
  }

  private func isUnchanged(_ request: Request, _ version: Version) throws(Problem) -> Bool {
    switch EntityTags(request.headers("If-None-Match")) {
    case .any: return true
    case .list(let tags): return tags.contains { $0.weakly(version) }
    case nil: throw .malformedRequest("If-None-Match is * or a list of entity tags.")
    }
  }
}
