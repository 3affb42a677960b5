import EventLoop
import Synchronization
import TestSupport
import Testing

@Suite("A worker pool")
struct WorkerPoolTests {
  @Test func `gives each caller its own result`() async throws {
    let pool = try WorkerPool(threads: 2, queueLimit: 100)
    let results = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
      for number in 0..<100 { group.addTask { (number, try await pool.run { number * number }) } }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    pool.close()
    #expect(results == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, $0 * $0) }))
  }

  @Test func `refuses what its queue can't hold, and takes more afterwards`() async throws {
    let pool = try WorkerPool(threads: 1, queueLimit: 2)
    try await withLoop { loop in
      let refused = LoopBound(0, on: loop)
      let finished = LoopBound(0, on: loop)
      @Sendable func run(_ body: @escaping @Sendable () -> Void) {
        Task(executorPreference: loop) {
          do {
            try await pool.run(body)
            finished.value += 1
          } catch {
            refused.value += 1
          }
        }
      }
      let hold = Hold()
      run { hold.wait() }
      try await loop.until { hold.isWaiting }
      for _ in 0..<5 { run {} }
      try await loop.until { refused.value == 3 }
      #expect(finished.value == 0)
      hold.release()
      try await loop.until { finished.value == 3 }
      try await pool.run {}
    }
    pool.close()
  }

  @Test func `finishes its queue when it is closed, and then refuses`() async throws {
    let pool = try WorkerPool(threads: 2, queueLimit: 1_000)
    let done = try await withLoop { loop in
      let accepted = LoopBound(0, on: loop)
      let done = LoopBound(0, on: loop)
      for _ in 0..<500 {
        Task(executorPreference: loop) {
          accepted.value += 1
          done.value += try await pool.run { 1 }
        }
      }
      try await loop.until { accepted.value == 500 }
      pool.close()
      pool.close()
      try await loop.until { done.value == 500 }
      await #expect(throws: WorkerPool.Overloaded.self) { try await pool.run {} }
      return done.value
    }
    #expect(done == 500)
  }
}

/// Work that goes on until it is let go.
private final class Hold: Sendable {
  private let state = Mutex((isWaiting: false, isReleased: false))

  var isWaiting: Bool { state.withLock { $0.isWaiting } }

  func wait() {
    state.withLock { $0.isWaiting = true }
    while !state.withLock({ $0.isReleased }) {}
  }

  func release() { state.withLock { $0.isReleased = true } }
}
