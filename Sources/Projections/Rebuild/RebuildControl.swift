import Clocks
import EventLoop
import Glibc
import Synchronization

/// What the threads of a running rebuild share: how far they are, and whether to go on.
final class RebuildControl: Sendable {
  /// Work ends here, since somebody or something said so.
  struct Interrupted: Error {}

  private struct State {
    var phase = RebuildRecord.State.preparing
    var done: Int64 = 0
    var total: Int64 = 0
    var isStopping = false
    var failure: (any Error)?
    var throttle = Throttle(rate: nil)
  }

  /// The longest wait between two looks at whether to go on.
  private static let nap = Duration.milliseconds(50)

  private let state = Mutex(State())
  /// Signalled by the thread that does the work when it ends.
  let ended = Semaphore()

  var phase: RebuildRecord.State { state.withLock { $0.phase } }
  var done: Int64 { state.withLock { $0.done } }
  var total: Int64 { state.withLock { $0.total } }
  /// The first error of any thread.
  var failure: (any Error)? { state.withLock { $0.failure } }
  var isStopping: Bool { state.withLock { $0.isStopping } }

  func enter(_ phase: RebuildRecord.State) { state.withLock { $0.phase = phase } }

  func begin(done: Int64, total: Int64) {
    state.withLock { ($0.done, $0.total) = (done, total) }
  }

  /// More events are due than was known.
  func raise(total: Int64) { state.withLock { $0.total = max($0.total, total) } }

  func set(throttle: Int32?) { state.withLock { $0.throttle.rate = throttle } }

  /// Takes back what was counted for a range that came to nothing.
  func discount(_ events: Int64) { state.withLock { $0.done -= events } }

  /// Counts events, waits where they come too fast, and throws where the work has to end.
  func count(_ events: Int) throws {
    let due = state.withLock { state in
      state.done += Int64(events)
      return state.throttle.take(events)
    }
    try goOn()
    if let due { try wait(until: due) }
  }

  /// Waits so long, and throws where the work has to end meanwhile.
  func wait(_ duration: Duration) throws { try wait(until: .now() + duration) }

  private func wait(until due: Instant) throws {
    while .now() < due {
      rest(until: min(due, .now() + Self.nap))
      try goOn()
    }
  }

  /// Throws where the work has to end.
  func goOn() throws {
    if isStopping { throw Interrupted() }
  }

  func stop() { state.withLock { $0.isStopping = true } }

  /// Ends the work of all threads because of `error`.
  func fail(_ error: any Error) {
    state.withLock { state in
      if !(error is Interrupted), state.failure == nil { state.failure = error }
      state.isStopping = true
    }
  }
}

/// Gives the processor away until then.
private func rest(until instant: Instant) {
  var time = timespec()
  time.tv_sec = Int(instant.nanoseconds / 1_000_000_000)
  time.tv_nsec = Int(instant.nanoseconds % 1_000_000_000)
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil)
}
