public import JSON

/// A request for another password that passed every rule that needs no hash.
public struct PasswordChange: Sendable {
  /// To be verified; nil where no stored password can be equal to it.
  public let old: Password?
  /// To be hashed once `old` was right.
  public let new: Password

  /// Reads `{oldPassword, newPassword, confirmPassword}`; the first rule that is broken counts.
  ///
  /// In this order: `old-password-required`, `new-password-required`, `same-password`,
  /// `confirmation-mismatch`, `password-too-short`, `password-too-long`, `password-too-common`;
  /// `wrong-password` is left to who can verify it. Spaces count, at the ends too.
  public static func read(
    _ json: JSON,
    policy: PasswordPolicy,
    person: PersonalWords
  ) throws(Refusal) -> PasswordChange {
    let text = try Members(json)
    guard let old = text.old, !old.isEmpty else {
      throw .rule(.oldPasswordRequired, at: "/oldPassword", "The old password is needed.")
    }
    guard let new = text.new, !new.unicodeScalars.allSatisfy(\.properties.isWhitespace) else {
      throw .rule(.newPasswordRequired, at: "/newPassword", "A new password is needed.")
    }
    // Swift compares strings by canonical equivalence, as NFC would.
    guard old != new else {
      throw .rule(.samePassword, at: "/newPassword", "Old and new password are equal.")
    }
    let mismatch = "New and confirm password are not equal."
    guard let confirmation = text.confirmation else {
      let error = FieldError(.required, at: "/confirmPassword", mismatch)
      throw .rule(.confirmationMismatch, error)
    }
    guard confirmation == new else {
      throw .rule(.confirmationMismatch, at: "/confirmPassword", mismatch)
    }
    do {
      return PasswordChange(
        old: Password(presented: old),
        new: try policy.accept(new, person)
      )
    } catch {
      throw .rule(error.code, at: "/newPassword", error.detail)
    }
  }

  /// Why a request is refused; the password is as it was.
  public enum Refusal: Error, Hashable, Sendable {
    /// The request has other members, or other types: answer `validation-failed`.
    case invalid(InvalidFields)
    /// A rule is broken: answer with its code, which the error's may differ from.
    case rule(FieldError.Code, FieldError)

    fileprivate static func rule(
      _ code: FieldError.Code,
      at pointer: JSONPointer,
      _ detail: String
    ) -> Refusal {
      .rule(code, FieldError(code, at: pointer, detail))
    }
  }

  private struct Members {
    let old: String?
    let new: String?
    let confirmation: String?

    init(_ json: JSON) throws(Refusal) {
      guard case .object(let members) = json else { throw .invalid(.notAnObject) }
      var reader = FieldReader()
      reader.refuseUnknown(members, known: ["oldPassword", "newPassword", "confirmPassword"])
      old = reader.text(members["oldPassword"], at: "/oldPassword", isRequired: false)
      new = reader.text(members["newPassword"], at: "/newPassword", isRequired: false)
      confirmation = reader.text(
        members["confirmPassword"],
        at: "/confirmPassword",
        isRequired: false
      )
      guard reader.errors.isEmpty else { throw .invalid(InvalidFields(reader.errors)) }
    }
  }
}
