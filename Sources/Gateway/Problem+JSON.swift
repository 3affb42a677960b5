import JSON
import Profiles

extension Problem {
  /// How a body that can't be read is answered: 400 where it is no JSON, 422 where one value
  /// in it can't be kept.
  init(_ error: JSONError) {
    switch error {
    case .malformed(let malformed):
      self = .malformedJSON(
        "\(malformed.reason.rawValue), line \(malformed.line), column \(malformed.column)"
      )
    case .numberNotExact(let pointer):
      self = .invalid([
        FieldError(.numberNotExact, at: pointer, "This number can't be kept as it is written.")
      ])
    case .nulCharacter(let pointer):
      self = .invalid([
        FieldError(.forbiddenCharacter, at: pointer, "U+0000 is not allowed.")
      ])
    }
  }
}
