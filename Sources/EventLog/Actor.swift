public import Profiles

/// Who caused an event.
public enum Actor: Hashable, Sendable {
  /// A signed-in user.
  case user(UserID)
  /// An operator, named by the key that was used.
  case `operator`(Identifier<Operator>)
  /// The service itself, or someone it doesn't know.
  case system

  /// Someone with an operator's key.
  public enum Operator {}

  /// The number that the database keeps.
  public var kind: Int16 {
    switch self {
    case .user: 1
    case .operator: 2
    case .system: 3
    }
  }

  /// The name of the kind in answers.
  public var kindName: String {
    switch self {
    case .user: "user"
    case .operator: "operator"
    case .system: "system"
    }
  }

  /// The actor's id, as of no particular kind.
  public var id: Identifier<Actor>? {
    switch self {
    case .user(let id): Identifier(high: id.high, low: id.low)
    case .operator(let id): Identifier(high: id.high, low: id.low)
    case .system: nil
    }
  }

  /// The actor with the database's number and id.
  public init(kind: Int16, id: Identifier<Actor>?) {
    switch (kind, id) {
    case (1, let id?): self = .user(UserID(high: id.high, low: id.low))
    case (2, let id?): self = .operator(Identifier(high: id.high, low: id.low))
    default: self = .system
    }
  }
}
