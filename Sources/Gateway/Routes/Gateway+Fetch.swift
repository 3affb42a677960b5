import Accounts
import HTTP
import Profiles

extension Gateway {
  /// Answers `GET /v1/users/me`.
  func fetch(_ request: Request) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    return try answer(request, try await holder(request))
  }

  /// Answers `GET /v1/users/{id}` of one's own id; nobody else's is found.
  func fetch(_ request: Request, id: UserID) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    let holder = try await holder(request)
    guard id == holder.userID else { throw .notFound }
    return try answer(request, holder)
  }

  private func answer(_ request: Request, _ holder: Holder) throws(Problem) -> Response {
    if request.headerBytes("If-None-Match") != nil, try isUnchanged(request, holder.version) {
      var response = Response(status: 304)
      response.add("ETag", EntityTag.text(holder.version))
      response.add("Cache-Control", "private, no-cache")
      return response
    }
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

  private func isUnchanged(_ request: Request, _ version: Version) throws(Problem) -> Bool {
    switch EntityTags(request.headers("If-None-Match")) {
    case .any: return true
    case .list(let tags): return tags.contains { $0.weakly(version) }
    case nil: throw .malformedRequest("If-None-Match is * or a list of entity tags.")
    }
  }
}
