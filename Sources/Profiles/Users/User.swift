public import JSON

/// What the events of one person's profile add up to; commands are decided on it.
public struct User: Hashable, Sendable {
  /// Whose profile it is.
  public let id: UserID
  /// The address that signs in.
  public internal(set) var email: EmailAddress
  /// Whether the person has shown that they read mail sent to `email`.
  public internal(set) var emailVerified = false
  /// The first name, if one is set.
  public internal(set) var firstName: PersonName?
  /// The last name, if one is set.
  public internal(set) var lastName: PersonName?
  /// The attributes that are set, ordered by name.
  public internal(set) var attributes: JSONObject
  /// Whether the person may sign in.
  public internal(set) var status = Status.active
  /// The version of the profile stream.
  public internal(set) var version: Version
  /// The version of the access stream.
  public internal(set) var accessVersion = Version.zero

  /// Whether a person may sign in; the raw value is what the database keeps.
  public enum Status: Int16, Hashable, Sendable, CaseIterable {
    case active = 1
    case suspended = 2

    /// The word that documents and history use.
    public var name: String {
      switch self {
      case .active: "active"
      case .suspended: "suspended"
      }
    }

    init?(name: String) {
      switch name {
      case "active": self = .active
      case "suspended": self = .suspended
      default: return nil
      }
    }
  }
}
