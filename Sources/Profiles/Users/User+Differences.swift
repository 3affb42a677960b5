public import JSON

/// What one member of a user's document was at one version and is at another; null stands for a
/// field that is not set.
public struct Difference: Hashable, Sendable {
  /// The name in history: "email", "firstName", "attributes.height".
  public let field: String
  /// The value at the version that is compared.
  public let old: JSON
  /// The value at the version that it is compared with.
  public let new: JSON
}

extension User {
  /// What differs between this state and another of the same user, whichever came first.
  ///
  /// It is the net result: what changed and came back is not there. Document order, attributes
  /// by name.
  public func differences(to other: User) -> [Difference] {
    var differences: [Difference] = []
    func compare(_ field: String, _ old: JSON, _ new: JSON) {
      if old != new { differences.append(Difference(field: field, old: old, new: new)) }
    }
    compare("email", .string(email.text), .string(other.email.text))
    compare("emailVerified", .bool(emailVerified), .bool(other.emailVerified))
    compare(ProfileField.firstName.name, value(of: .firstName), other.value(of: .firstName))
    compare(ProfileField.lastName.name, value(of: .lastName), other.value(of: .lastName))
    let names = Set(attributes.map(\.key)).union(other.attributes.map(\.key))
    for field in names.sorted().map(ProfileField.attribute) {
      compare(field.name, value(of: field), other.value(of: field))
    }
    compare("status", .string(status.name), .string(other.status.name))
    return differences
  }

  /// The value of a field; null where it is not set.
  func value(of field: ProfileField) -> JSON {
    switch field {
    case .firstName: firstName.json
    case .lastName: lastName.json
    case .attribute(let name): attributes[name] ?? .null
    }
  }
}
