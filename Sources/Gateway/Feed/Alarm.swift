import EventLoop

/// What one task waits for, and any number of others may set off; on one loop.
///
/// An alarm that nobody waits for isn't lost: the next to wait goes on at once.
final class Alarm: Sendable {
  private struct State {
    var isSetOff = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let loop: EventLoop
  private let state: LoopBound<State>

  init(loop: EventLoop) {
    self.loop = loop
    state = LoopBound(State(), on: loop)
  }

  /// Wakes the one who waits; on the loop.
  func setOff() {
    state.value.isSetOff = true
    let waiting = state.value.waiting.take()
    waiting?.resume()
  }

  /// As `setOff`, from any thread.
  func setOffFromAnywhere() { loop.execute { self.setOff() } }

  /// Waits until it is set off, for `duration` at most.
  func wait(atMost duration: Duration) async {
    if !state.value.isSetOff {
      let timer = loop.schedule(after: duration) { self.setOff() }
      await withCheckedContinuation { state.value.waiting = $0 }
      loop.cancel(timer)
    }
    state.value.isSetOff = false
  }
}
