import Accounts
import EventLog
import HTTP

extension Gateway {
  /// Answers `POST /v1/users/me/password`.
  func changePassword(_ request: Request, _ requestID: String) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    let body = try body(of: request)
    let presented = try presentedToken(request)
    // The token dies with the change: if the answer is lost, it still stands for who asked.
    return try await idempotently(request, principal: presented) {
      (key: IdempotencyKey?) async throws(Problem) -> Response in
      let holder = try await holder(request, writes: true)
      let receipts = try await receipts(key, of: holder)
      let context = context(request, requestID, holder.session)
      do throws(AccountsError) {
        let opened = try await accounts.changePassword(
          holder,
          body,
          source: context.source,
          receipts: { receipts(Self.renewed($0)) }
        )
        return Self.renewed(opened)
      } catch {
        throw Problem(error)
      }
    }
  }

  private static func renewed(_ opened: OpenedSession) -> Response {
    secret(
      200,
      Array("{\"token\":\"\(opened.token.text)\",\"expiresAt\":\"\(opened.expiresAt)\"}".utf8)
    )
  }
}
