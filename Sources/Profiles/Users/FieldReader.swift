internal import JSON

/// Reads the members of a request one after another, and gathers what is wrong with them.
struct FieldReader {
  var errors: [FieldError] = []

  /// Members of a user that a request may never set.
  private static let readOnly: Set = [
    "id", "email", "emailVerified", "status", "version", "createdAt", "updatedAt",
  ]

  /// Notes every member that is not among `known`.
  mutating func refuseUnknown(_ members: JSONObject, known: Set<String>) {
    for member in members where !known.contains(member.key) {
      let pointer = JSONPointer([member.key])
      if Self.readOnly.contains(member.key) {
        note(.readOnly, at: pointer, "This member can't be set here.")
      } else {
        note(.unknownField, at: pointer, "There is no such member.")
      }
    }
  }

  mutating func note(_ code: FieldError.Code, at pointer: JSONPointer, _ detail: String) {
    guard errors.count < FieldError.maximumCount else { return }
    errors.append(FieldError(code, at: pointer, detail))
  }

  /// The text of a member; null is as good as none.
  mutating func text(_ json: JSON?, at pointer: JSONPointer, isRequired: Bool) -> String? {
    switch json {
    case .string(let text):
      return text
    case nil, .null:
      if isRequired { note(.required, at: pointer, "This member is required.") }
    default:
      note(.wrongType, at: pointer, "A string is needed.")
    }
    return nil
  }

  /// The members of an object; null is as good as an empty one.
  mutating func object(_ json: JSON, at pointer: JSONPointer) -> JSONObject? {
    switch json {
    case .object(let object): return object
    case .null: return [:]
    default:
      note(.wrongType, at: pointer, "An object is needed.")
      return nil
    }
  }

  /// What `make` makes, or nil with its problem noted.
  mutating func value<Value>(
    at pointer: JSONPointer,
    _ make: () throws(Problem) -> Value
  ) -> Value? {
    do {
      return try make()
    } catch {
      note(error.code, at: pointer, error.detail)
      return nil
    }
  }
}

extension InvalidFields {
  /// The refusal of a body that is no JSON object.
  static var notAnObject: InvalidFields {
    InvalidFields([FieldError(.wrongType, at: .root, "An object is needed.")])
  }
}

extension SchemaCheck {
  /// Notes attributes that take more than a profile may hold.
  mutating func refuseOversize(_ attributes: JSONObject) {
    if JSON.object(attributes).bytes.count > ProfileSchema.maximumSize {
      refuseAttributes(
        .tooLong,
        "All attributes together take at most \(ProfileSchema.maximumSize) bytes."
      )
    }
  }
}
