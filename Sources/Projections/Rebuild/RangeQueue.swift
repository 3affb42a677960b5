import EventLoop
import Synchronization

/// The ranges that are due, shared out among threads.
final class RangeQueue: Sendable {
  private let ranges: Mutex<[RebuildRange]>

  init(_ ranges: [RebuildRange]) {
    self.ranges = Mutex(ranges.reversed())
  }

  func next() -> RebuildRange? {
    ranges.withLock { $0.popLast() }
  }

  /// Runs `body` in `workers` threads, and returns when all have ended.
  ///
  /// The first error of any is thrown, and ends the work of the others. `body` is given its
  /// worker's number, from 0.
  static func run(
    _ ranges: [RebuildRange],
    workers: Int,
    _ control: RebuildControl,
    _ body: @escaping @Sendable (RangeQueue, _ worker: Int) throws -> Void
  ) throws {
    let queue = RangeQueue(ranges)
    var threads: [LoopThread] = []
    do {
      for number in 0..<min(workers, ranges.count) {
        let thread = try LoopThread(name: "rebuild-\(number)") {
          yieldToLoops()
          do { try body(queue, number) } catch { control.fail(error) }
        }
        threads.append(thread)
      }
    } catch {
      control.fail(error)
    }
    for thread in threads { thread.join() }
    if let failure = control.failure { throw failure }
    try control.goOn()
  }
}
