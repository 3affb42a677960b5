import EventLoop

/// Lets a few at a time do something; the others wait in the order of their coming; on one loop.
final class Turns: Sendable {
  private struct State {
    var underWay = 0
    var waiting = FIFO<CheckedContinuation<Void, Never>>()
  }

  private let limit: Int
  private let queueLimit: Int
  private let state: LoopBound<State>

  /// `limit` at a time; of those who come while `queueLimit` wait, each is told that it is too much.
  init(_ limit: Int, queueLimit: Int, on loop: EventLoop) {
    self.limit = limit
    self.queueLimit = queueLimit
    state = LoopBound(State(), on: loop)
  }

  /// Waits for a turn, which `end` must give back.
  func begin() async throws(AccountsError) {
    if state.value.underWay < limit {
      state.value.underWay += 1
      return
    }
    guard state.value.waiting.count < queueLimit else { throw .overloaded }
    // Whoever ends a turn passes it on, so that none who comes later takes it.
    await withCheckedContinuation { state.value.waiting.append($0) }
  }

  /// Ends a turn.
  func end() {
    if let next = state.value.waiting.popFirst() {
      next.resume()
    } else {
      state.value.underWay -= 1
    }
  }
}
