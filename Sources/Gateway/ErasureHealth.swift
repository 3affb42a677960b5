import JSON
import Synchronization

/// What `/readyz` says of erasures; whoever keeps their list tells it.
public final class ErasureHealth: Sendable {
  private struct State {
    var unlisted: String?
    var owed = 0
  }

  private let state = Mutex(State())

  /// Nothing is known to be wrong.
  public init() {}

  /// Says why erasures can't be put on the list; nil where they are.
  public func set(unlisted reason: String?) {
    state.withLock { $0.unlisted = reason }
  }

  /// Says how many people are here again who had been erased.
  public func set(owed count: Int) {
    state.withLock { $0.owed = count }
  }

  /// What is to be told, each of which needs an operator; nil where all is well.
  var report: JSON? {
    let state = state.withLock { $0 }
    var report: JSONObject = [:]
    if state.owed > 0 { report["owed"] = .integer(Int64(state.owed)) }
    if let reason = state.unlisted { report["unlisted"] = .string(reason) }
    return report.isEmpty ? nil : .object(report)
  }
}
