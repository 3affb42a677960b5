import CLinux
import Glibc
import Synchronization

/// A bounded set of threads for work that computes or blocks, with a bounded queue.
///
/// The threads yield to the event loops (`SCHED_BATCH` with the lowest priority), so that what
/// the loops serve never waits behind what the pool computes.
public final class WorkerPool: Sendable {
  /// The queue is full; try again later.
  public struct Overloaded: Error {}

  private struct Queue {
    var work: [@Sendable () -> Void] = []
    var head = 0
    var closed = false
  }

  private let queue = Mutex(Queue())
  private let available: Semaphore
  private let threads = Mutex<[LoopThread]>([])

  /// How many pieces of work may wait.
  public let queueLimit: Int

  /// Starts `threads` threads whose queue holds at most `queueLimit` pieces of work.
  public init(threads count: Int, queueLimit: Int) throws(SystemError) {
    self.queueLimit = queueLimit
    available = Semaphore()
    for number in 0..<count {
      let thread = try LoopThread(name: "worker-\(number)") { [weak self] in
        yieldToLoops()
        guard let available = self?.available else { return }
        while true {
          available.wait()
          guard let work = self?.next() else { return }
          work()
        }
      }
      threads.withLock { $0.append(thread) }
    }
  }

  /// Computes `body` on a thread of the pool; the caller waits without holding its own.
  public func run<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value
  ) async throws(Overloaded) -> Value {
    let value: Value? = await withCheckedContinuation { continuation in
      let accepted = push { continuation.resume(returning: body()) }
      if !accepted { continuation.resume(returning: nil) }
    }
    guard let value else { throw Overloaded() }
    return value
  }

  /// Lets the threads end once the queue is empty, and waits for them.
  public func close() {
    let ending = threads.withLock { threads in
      let ending = threads
      threads = []
      return ending
    }
    queue.withLock { $0.closed = true }
    for _ in ending { available.signal() }
    for thread in ending { thread.join() }
  }

  private func push(_ work: @escaping @Sendable () -> Void) -> Bool {
    let accepted = queue.withLock { queue in
      guard !queue.closed, queue.work.count - queue.head < queueLimit else { return false }
      queue.work.append(work)
      return true
    }
    if accepted { available.signal() }
    return accepted
  }

  /// The oldest piece of work; nil when the pool is closed and the queue empty.
  private func next() -> (@Sendable () -> Void)? {
    queue.withLock { queue in
      guard queue.head < queue.work.count else { return nil }
      let work = queue.work[queue.head]
      queue.head += 1
      if queue.head == queue.work.count {
        queue.work.removeAll(keepingCapacity: true)
        queue.head = 0
      } else if queue.head > 256 {
        queue.work.removeFirst(queue.head)
        queue.head = 0
      }
      return work
    }
  }
}

/// Gives the calling thread the lowest claim on the processors, behind what the loops serve.
public func yieldToLoops() {
  var parameter = sched_param()
  parameter.sched_priority = 0
  // Refusals are harmless: the thread then competes as an equal.
  sched_setscheduler(0, Int32(jejak_sched_batch), &parameter)
  LoopThread.beNice(19)
}
