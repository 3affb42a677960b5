import EventLoop
import Synchronization

/// Threads that share a list of jobs out among themselves.
final class Workers<Job: Sendable>: Sendable {
  private struct State {
    var jobs: [Job]
    var done: Int64 = 0
    var failure: (any Error)?
  }

  /// Between two looks at how far they are.
  private static var pause: Duration { .milliseconds(100) }

  private let state: Mutex<State>

  private init(_ jobs: [Job]) {
    state = Mutex(State(jobs: jobs.reversed()))
  }

  /// Runs `body` in up to `count` threads, and returns when all have ended.
  ///
  /// `progress` is told now and then how much is done. The first error of any is thrown, and ends
  /// the work of the others.
  static func run(
    _ jobs: [Job],
    count: Int,
    progress: (_ done: Int64) -> Void,
    _ body: @escaping @Sendable (Workers) throws -> Void
  ) throws {
    let workers = Workers(jobs)
    let ended = Semaphore()
    var threads: [LoopThread] = []
    do {
      for number in 0..<min(count, jobs.count) {
        let thread = try LoopThread(name: "verify-\(number)") {
          yieldToLoops()
          do { try body(workers) } catch { workers.fail(error) }
          ended.signal()
        }
        threads.append(thread)
      }
    } catch {
      workers.fail(error)
    }
    var left = threads.count
    while left > 0 {
      if ended.wait(atMost: pause) { left -= 1 }
      progress(workers.state.withLock { $0.done })
    }
    for thread in threads { thread.join() }
    if let failure = workers.state.withLock({ $0.failure }) { throw failure }
  }

  /// The next job; nil where none is left, or the work has to end.
  func next() -> Job? {
    state.withLock { $0.failure == nil ? $0.jobs.popLast() : nil }
  }

  /// Counts what is done, for the progress.
  func count(_ more: Int) {
    state.withLock { $0.done += Int64(more) }
  }

  /// Whether the work has to end.
  var hasFailed: Bool { state.withLock { $0.failure != nil } }

  private func fail(_ error: any Error) {
    state.withLock { $0.failure = $0.failure ?? error }
  }
}
