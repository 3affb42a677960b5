import Accounts
import EventLog
import HTTP
import JSON
import Profiles

extension Gateway {
  /// The media types that a merge patch comes as.
  static let patchTypes = ["application/merge-patch+json", "application/json"]

  /// Answers `PATCH /v1/users/me`: a merge patch (RFC 7396), with If-Match where the client wants it.
  func update(_ request: Request, _ requestID: String) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    let holder = try await holder(request, writes: true)
    let body = try patch(request)
    let precondition = try precondition(request)
    let patch: ProfilePatch
    do {
      patch = try ProfilePatch(body, schema: accounts.rules.schema, today: Accounts.today())
    } catch {
      throw .invalid(error.errors)
    }
    let context = context(request, requestID, holder.session)
    return try await idempotently(request, principal: holder.userID.bytes) {
      (key: IdempotencyKey?) async throws(Problem) -> Response in
      do throws(AccountsError) {
        let user = try await accounts.update(
          holder,
          by: patch,
          if: precondition?.holds,
          source: context.source,
          receipt: receipt(key) { UserDocument.response(status: 200, $0) }
        )
        return UserDocument.response(status: 200, user)
      } catch {
        throw await problem(error, precondition)
      }
    }
  }

  private func patch(_ request: Request) throws(Problem) -> JSON {
    do throws(Problem) {
      return try body(of: request, types: Self.patchTypes)
    } catch {
      var problem = error
      if problem.status == 415 {
        problem.headers.append(("Accept-Patch", Self.patchTypes.joined(separator: ", ")))
      }
      throw problem
    }
  }

  /// What If-Match demands.
  struct IfMatch {
    let holds: Accounts.Precondition
    /// The latest version that the client named.
    var named: Version?
    /// Whether there is a tag that names a version weakly, which never matches.
    var isWeak = false
  }

  func precondition(_ request: Request) throws(Problem) -> IfMatch? {
    guard request.headerBytes("If-Match") != nil else { return nil }
    switch EntityTags(request.headers("If-Match")) {
    case .any: return IfMatch { _ in true }
    case .list(let tags):
      return IfMatch(
        holds: { version in tags.contains { $0.strongly(version) } },
        named: tags.compactMap(\.version).max(),
        isWeak: tags.contains(where: \.isWeak)
      )
    case nil: throw .malformedRequest("If-Match is * or a list of entity tags.")
    }
  }

  /// A failed precondition is told with the fields that changed since the named version, or with
  /// what is wrong with the tags.
  func problem(_ error: AccountsError, _ precondition: IfMatch?) async -> Problem {
    var problem = Problem(error)
    guard case .preconditionFailed(let user) = error, let precondition else { return problem }
    guard let named = precondition.named, named < user.version else {
      problem.title = "If-Match does not name the profile's version."
      if precondition.isWeak {
        problem.detail = "It is at version \(user.version) now, and a weak tag never matches."
      }
      return problem
    }
    do throws(AccountsError) {
      let fields = try await accounts.fieldsChanged(of: user.id, since: named)
      problem.members["changed"] = .array(fields.map(JSON.string))
      return problem
    } catch {
      return Problem(error)
    }
  }
}
