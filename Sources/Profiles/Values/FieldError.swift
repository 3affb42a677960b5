public import JSON

/// What is wrong with one member of a request; it never carries the refused value.
public struct FieldError: Error, Hashable, Sendable {
  /// The member.
  public let pointer: JSONPointer
  /// What a program acts on.
  public let code: Code
  /// What a person reads.
  public let detail: String

  /// How many are reported at most; a request with more is told about the first ones.
  public static let maximumCount = 100

  /// An error at `pointer`.
  public init(_ code: Code, at pointer: JSONPointer, _ detail: String) {
    self.pointer = pointer
    self.code = code
    self.detail = detail
  }

  /// The codes that the HTTP interface promises.
  public enum Code: String, Sendable, CaseIterable {
    case required
    case unknownField = "unknown-field"
    case readOnly = "read-only"
    case wrongType = "wrong-type"
    case outOfRange = "out-of-range"
    case tooLong = "too-long"
    case tooShort = "too-short"
    case notAllowed = "not-allowed"
    case invalidEmail = "invalid-email"
    case invalidDate = "invalid-date"
    case dateInFuture = "date-in-future"
    case dateTooOld = "date-too-old"
    case forbiddenCharacter = "forbidden-character"
    case numberNotExact = "number-not-exact"
    case changedSince = "changed-since"
    case oldPasswordRequired = "old-password-required"
    case newPasswordRequired = "new-password-required"
    case samePassword = "same-password"
    case confirmationMismatch = "confirmation-mismatch"
    case passwordTooShort = "password-too-short"
    case passwordTooLong = "password-too-long"
    case passwordTooCommon = "password-too-common"
    case wrongPassword = "wrong-password"
  }
}

/// All that is wrong with a request; answer 422 and list it.
public struct InvalidFields: Error, Hashable, Sendable {
  /// At least one error.
  public let errors: [FieldError]

  /// A refusal for `errors`.
  public init(_ errors: [FieldError]) {
    self.errors = errors
  }
}
