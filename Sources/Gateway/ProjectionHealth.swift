import JSON
import Synchronization

/// What `/readyz` says of the projections that an operator should look at; the process tells it
/// every second.
///
/// A projection that has stopped doesn't make the service unfit: it answers profiles as before.
public final class ProjectionHealth: Sendable {
  /// A projection that an operator should look at.
  public struct Trouble: Sendable {
    /// The projection's name.
    public var name: String
    /// `stopped`, `behind` or `rebuild-due`.
    public var state: String
    /// Whether it doesn't go on by itself.
    public var isDegraded: Bool
    /// The last event that it holds.
    public var position: Int64
    /// How many events it lacks.
    public var lag: Int64
    /// The position of the event that it can't take in, and why; without a person's data.
    public var error: (position: Int64, reason: String)?

    /// A trouble of these parts.
    public init(
      name: String,
      state: String,
      isDegraded: Bool,
      position: Int64,
      lag: Int64,
      error: (position: Int64, reason: String)?
    ) {
      self.name = name
      self.state = state
      self.isDegraded = isDegraded
      self.position = position
      self.lag = lag
      self.error = error
    }
  }

  private let troubles = Mutex<[Trouble]>([])

  /// Nothing is known to be wrong.
  public init() {}

  /// Says what is wrong now.
  public func set(_ new: [Trouble]) {
    troubles.withLock { $0 = new }
  }

  /// What is wrong, and whether something doesn't go on by itself; nil where all is well.
  var report: (json: JSON, isDegraded: Bool)? {
    let troubles = troubles.withLock { $0 }
    guard !troubles.isEmpty else { return nil }
    return (.array(troubles.map(\.json)), troubles.contains(where: \.isDegraded))
  }
}

extension ProjectionHealth.Trouble {
  fileprivate var json: JSON {
    var object: JSONObject = [:]
    object["name"] = .string(name)
    object["state"] = .string(state)
    object["position"] = .integer(position)
    object["lag"] = .integer(lag)
    if let error {
      object["error"] = [
        "position": .integer(error.position), "reason": .string(error.reason),
      ]
    }
    return .object(object)
  }
}
