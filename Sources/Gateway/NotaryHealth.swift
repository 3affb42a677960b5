import JSON
public import Notary
import Synchronization

/// What `/readyz` says of the notary; the process tells it every second.
///
/// A notary that refuses to sign doesn't make the service unfit: it answers profiles as before.
public final class NotaryHealth: Sendable {
  private let state = Mutex(NotaryState.signs)

  /// Nothing is known to be wrong.
  public init() {}

  /// Says how the notary fares now; what it was before.
  @discardableResult
  public func set(_ new: NotaryState) -> NotaryState {
    state.withLock { state in
      defer { state = new }
      return state
    }
  }

  /// What is to be told, and whether it needs an operator; nil where all is well.
  var report: (json: JSON, isDegraded: Bool)? {
    switch state.withLock({ $0 }) {
    case .signs: nil
    // No process serves a log that is not sealed, so somebody has altered the table.
    case .waitsForSealing: (["state": "waiting", "code": "log-not-sealed"], true)
    case .refuses(let refusal):
      (
        [
          "state": "refusing", "code": .string(refusal.code),
          "reason": .string(refusal.description),
        ], true
      )
    }
  }
}
