import Accounts
import EventLog
import HTTP
import JSON
import Profiles

extension Gateway {
  /// Answers `DELETE /v1/users/me`: erases whoever asks and knows the password.
  func eraseOwn(_ request: Request, _ requestID: String) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    let presented = try presentedToken(request)
    let password = try presentedPassword(request)
    let precondition = try precondition(request)
    // The token dies with the user: if the answer is lost, it still stands for who asked.
    return try await idempotently(request, principal: presented) {
      (key: IdempotencyKey?) async throws(Problem) -> Response in
      let holder = try await holder(request)
      _ = try await receipts(key, of: holder)
      let context = context(request, requestID, holder.session)
      do throws(AccountsError) {
        _ = try await accounts.erase(
          holder,
          password: password,
          if: precondition?.holds,
          source: context.source,
          receipt: key?.receipt(for: Response(status: 204))
        )
      } catch {
        throw await problem(error, precondition)
      }
      shared.erased()
      return Response(status: 204)
    }
  }

  /// Answers `DELETE /v1/users/{id}` to an operator; whoever has been erased before stays so.
  func erase(
    _ request: Request,
    _ requestID: String,
    id: UserID
  ) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    guard request.body.isEmpty else {
      throw .malformedRequest("An operator erases a user without a body.")
    }
    let precondition = try precondition(request)
    let found = try await self.operator(request, scope: .usersWrite)
    let context = context(request, requestID, nil)
    return try await idempotently(request, principal: found.id.bytes) {
      (key: IdempotencyKey?) async throws(Problem) -> Response in
      do throws(AccountsError) {
        _ = try await accounts.erase(
          id,
          by: found.actor,
          if: precondition?.holds,
          source: context.source,
          receipt: key?.receipt(for: Response(status: 204))
        )
      } catch {
        throw await problem(error, precondition)
      }
      shared.erased()
      return Response(status: 204)
    }
  }

  /// `{password}`, and nothing else.
  private func presentedPassword(_ request: Request) throws(Problem) -> Password {
    guard !request.body.isEmpty else {
      throw .invalid([FieldError(.required, at: "/password", "This is needed.")])
    }
    guard let members = try body(of: request).object else {
      throw .invalid([FieldError(.wrongType, at: .root, "Send an object.")])
    }
    var errors: [FieldError] = []
    var password: Password?
    switch members["password"] {
    case .string(let text)?:
      password = Password(presented: text)
      if password == nil {
        errors.append(
          FieldError(
            .passwordTooLong,
            at: "/password",
            "A password has at most \(Password.maximumLength) bytes, and no U+0000."
          )
        )
      }
    case nil, .null?: errors.append(FieldError(.required, at: "/password", "This is needed."))
    default: errors.append(FieldError(.wrongType, at: "/password", "This is a text."))
    }
    for member in members where member.key != "password" {
      errors.append(
        FieldError(.unknownField, at: JSONPointer([member.key]), "There is no such field.")
      )
    }
    guard errors.isEmpty, let password else {
      throw .invalid(Array(errors.prefix(FieldError.maximumCount)))
    }
    return password
  }
}
