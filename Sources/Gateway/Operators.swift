import Accounts
import HTTP
import JSON

extension Gateway {
  /// Who uses the API key that the request brings, if the key has `scope`.
  ///
  /// What comes of it is recorded with the operator's `actor`.
  func `operator`(_ request: Request, scope: Scope) async throws(Problem) -> Operator {
    guard let digest = Bearer.tokenDigest(of: request, as: .apiKey) else {
      if Bearer.kind(of: request) == .session { throw .forOperators }
      throw .keyRequired(presented: Bearer.isPresented(in: request))
    }
    let found: Operator
    do {
      found = try await accounts.operator(ofDigest: digest)
    } catch .unauthenticated {
      throw .keyRequired(presented: true)
    } catch {
      throw Problem(error)
    }
    guard scope.isAllowed(by: found.scopes) else { throw .insufficient(scope) }
    return found
  }
}

extension Problem {
  /// An API key at a route that is for users; told by its form, whether anybody holds it or not.
  static let forUsers = Problem(
    403,
    "forbidden",
    "This is for users.",
    detail: "An API key can't be used here, a user's session is needed."
  )

  /// A user's token at a route that is for operators.
  static let forOperators = Problem(
    403,
    "forbidden",
    "This is for operators.",
    detail: "A user's token can't be used here, an API key is needed."
  )

  /// `presented`: something was sent that is no valid key.
  static func keyRequired(presented: Bool) -> Problem {
    var problem = authenticationRequired(presented: presented)
    problem.title = "A valid API key is needed."
    problem.detail = presented ? "The API key is unknown, revoked or expired." : nil
    return problem
  }

  /// A valid key without `scope`, told as RFC 6750 section 3.1 does.
  static func insufficient(_ scope: Scope) -> Problem {
    var problem = Problem(
      403,
      "insufficient-scope",
      "The API key doesn't allow this.",
      detail: "The scope \(scope.rawValue) is needed."
    )
    problem.members["scope"] = .string(scope.rawValue)
    problem.headers = [
      (
        "WWW-Authenticate",
        "Bearer realm=\"jejak\", error=\"insufficient_scope\", scope=\"\(scope.rawValue)\""
      )
    ]
    return problem
  }
}
