import Accounts
import EventLog
import HTTP
import JSON
import Profiles

extension Gateway {
  /// Answers `POST /v1/users/{me or id}/history/{version}/revert`.
  func revert(
    _ version: Version,
    _ request: Request,
    _ requestID: String,
    id: UserID?
  ) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    let asker = try await asker(request, about: id, scope: .usersWrite, writes: true)
    let overwrites = try overwrites(request)
    let precondition = try precondition(request)
    let context = context(request, requestID, asker.session)
    return try await idempotently(request, principal: asker.principal) {
      (key: IdempotencyKey?) async throws(Problem) -> Response in
      do throws(AccountsError) {
        let user = try await accounts.revert(
          version,
          of: asker.user,
          overwrites: overwrites,
          by: asker.actor,
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

  /// What the body says: nothing, or `{"overwrite":true}`.
  private func overwrites(_ request: Request) throws(Problem) -> Bool {
    guard !request.body.isEmpty else { return false }
    guard let members = try body(of: request).object else {
      throw .invalid([FieldError(.wrongType, at: .root, "Send an object, or no body.")])
    }
    var overwrites = false
    var errors: [FieldError] = []
    for member in members {
      if member.key != "overwrite" {
        errors.append(
          FieldError(.unknownField, at: JSONPointer([member.key]), "There is no such field.")
        )
      } else if case .bool(let value) = member.value {
        overwrites = value
      } else {
        errors.append(FieldError(.wrongType, at: "/overwrite", "true or false is needed."))
      }
    }
    guard errors.isEmpty else { throw .invalid(Array(errors.prefix(FieldError.maximumCount))) }
    return overwrites
  }
}

extension Problem {
  /// Fields of the change that is to be reverted have other values by now.
  static func changedSince(_ fields: [ProfileField]) -> Problem {
    var problem = Problem(
      409,
      "changed-since",
      "Fields of this change have been changed since.",
      detail: "To give them their old values all the same, send {\"overwrite\":true}."
    )
    problem.members["changed"] = .array(fields.map { .string($0.name) })
    problem.errors = fields.prefix(FieldError.maximumCount).map {
      FieldError(.changedSince, at: $0.pointer, "This field has another value by now.")
    }
    return problem
  }

  /// What made the version is no change of names and attributes.
  static func notRevertible(_ type: String) -> Problem {
    let reason =
      switch Event.Kind(rawValue: type) {
      case .userRegistered: "Nothing was there before the registration."
      case .passwordChanged: "Former passwords are not kept; change the password instead."
      case .userErased: "Nothing is left to go back to."
      case .emailChanged: "An address is changed with the password."
      default: "Only a change of names and attributes can be reverted."
      }
    var problem = Problem(409, "not-revertible", "This can't be reverted.", detail: reason)
    problem.members["event"] = .string(type)
    return problem
  }
}
