import Synchronization

/// What the workers of a verification have found so far.
final class Findings: Sendable {
  /// Findings that are named.
  static let namedLimit = 100

  private struct State {
    var count: Int64 = 0
    var first: [Finding] = []
  }

  private let state = Mutex(State())

  /// Notes that something is wrong.
  func note(_ place: Finding.Place, _ problem: Problem) {
    let finding = Finding(place: place, problem: problem)
    state.withLock { state in
      state.count += 1
      state.first.append(finding)
      // Sorted now and then, so that a log that is wrong throughout is not sorted at each event.
      if state.first.count >= 4 * Self.namedLimit { state.first = Self.named(state.first) }
    }
  }

  /// How many there are, and the first of them in their order.
  var all: (count: Int64, first: [Finding]) {
    state.withLock { ($0.count, Self.named($0.first)) }
  }

  private static func named(_ findings: [Finding]) -> [Finding] {
    // Of findings at one place, the earlier is the cause more often than not.
    let order = findings.enumerated().sorted { left, right in
      if Finding.isBefore(left.element, right.element) { return true }
      if Finding.isBefore(right.element, left.element) { return false }
      return left.offset < right.offset
    }
    return order.prefix(namedLimit).map(\.element)
  }
}
