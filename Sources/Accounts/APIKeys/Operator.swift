public import EventLog
public import Profiles

/// Names an API key; what is done with the key is recorded under this id.
public typealias KeyID = Identifier<Actor.Operator>

/// Whoever uses an API key.
public struct Operator: Sendable {
  /// The key.
  public let id: KeyID
  /// What the key was called by whoever made it.
  public let name: String
  /// What it may be used for.
  public let scopes: [Scope]

  /// The actor of the events that come of this.
  public var actor: Actor { .operator(id) }
}
