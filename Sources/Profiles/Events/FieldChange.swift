public import JSON

/// One field's old and new value; null stands for a field that is not set.
public struct FieldChange: Hashable, Sendable {
  /// The field.
  public let field: ProfileField
  /// What it was.
  public let old: JSON
  /// What it is.
  public let new: JSON

  /// The change of `field` from `old` to `new`.
  init(_ field: ProfileField, old: JSON, new: JSON) {
    self.field = field
    self.old = old
    self.new = new
  }
}

/// A field that a person edits.
public enum ProfileField: Hashable, Sendable {
  case firstName
  case lastName
  /// An attribute as a whole, whatever its value nests.
  case attribute(String)

  /// The name in history and in `changedFields`: "firstName", "attributes.height".
  public var name: String {
    switch self {
    case .firstName: "firstName"
    case .lastName: "lastName"
    case .attribute(let name): "attributes.\(name)"
    }
  }

  /// Where the field stands in a user.
  public var pointer: JSONPointer {
    switch self {
    case .firstName, .lastName: JSONPointer([name])
    case .attribute(let name): JSONPointer(["attributes", name])
    }
  }

  init?(name: String) {
    switch name {
    case "firstName": self = .firstName
    case "lastName": self = .lastName
    default:
      guard name.hasPrefix("attributes.") else { return nil }
      self = .attribute(String(name.dropFirst("attributes.".count)))
    }
  }
}
