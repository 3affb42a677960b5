import Clocks
import JSON
public import Notary
import Synchronization

/// What `/readyz` says of the notary; the process tells it every second.
///
/// A notary that refuses to sign doesn't make the service unfit: it answers profiles as before.
public final class NotaryHealth: Sendable {
  /// How long nothing may have been signed of what there was to sign, whatever the reason.
  static let patience = Duration.seconds(30)

  private struct State {
    var state = NotaryState.signs
    /// When it was last told that what is there is signed.
    var signed = Instant.now()
  }

  private let state = Mutex(State())

  /// Nothing is known to be wrong.
  public init() {}

  /// Says how the notary fares now; what it was before.
  @discardableResult
  public func set(_ new: NotaryState) -> NotaryState {
    state.withLock { state in
      defer { state.state = new }
      if new == .signs { state.signed = .now() }
      return state.state
    }
  }

  /// What is to be told, and whether it needs an operator; nil where all is well.
  var report: (json: JSON, isDegraded: Bool)? { report(at: .now()) }

  func report(at now: Instant) -> (json: JSON, isDegraded: Bool)? {
    let state = state.withLock { $0 }
    switch state.state {
    case .signs:
      guard now - state.signed > Self.patience else { return nil }
      return (
        [
          "state": "behind", "code": "nothing-signed",
          "reason": .string(
            "the log has been ahead of what is signed for more than \(Self.patience)"
          ),
        ], true
      )
    // No process serves a log that is not sealed, so somebody has altered the table.
    case .waitsForSealing: return (["state": "waiting", "code": "log-not-sealed"], true)
    case .refuses(let refusal):
      return (
        [
          "state": "refusing", "code": .string(refusal.code),
          "reason": .string(refusal.description),
        ], true
      )
    }
  }
}
