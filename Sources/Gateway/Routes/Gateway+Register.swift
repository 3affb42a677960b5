import Accounts
import EventLog
import HTTP
import JSON
import Profiles

extension Gateway {
  /// Answers `POST /v1/users`.
  func register(_ request: Request, _ requestID: String) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    let body = try body(of: request)
    let context = context(request, requestID, nil)
    return try await idempotently(request, principal: Self.principal(body)) {
      (key: IdempotencyKey?) async throws(Problem) -> Response in
      do throws(AccountsError) {
        let user = try await accounts.register(
          body,
          source: context.source,
          receipt: receipt(key) { Self.registered($0) }
        )
        return Self.registered(user)
      } catch {
        throw Problem(error)
      }
    }
  }

  private static func registered(_ user: CurrentUser) -> Response {
    var response = UserDocument.response(status: 201, user)
    response.add("Location", "/v1/users/\(user.id)")
    return response
  }

  /// Who asks where nobody is signed in: whoever uses this address.
  static func principal(_ body: JSON) -> [UInt8] {
    let email = body.object?["email"]?.string ?? ""
    return Array("email:\(EmailAddress(email)?.claimKey ?? email)".utf8)
  }
}
