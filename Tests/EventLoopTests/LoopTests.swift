import EventLoop
import TestSupport
import Testing

@Suite("An event loop")
struct LoopTests {
  @Test func `keeps a task on its thread from beginning to end`() async throws {
    let places = try await withLoop { loop in
      var places = [loop.isCurrent]
      await loop.nextTurn()
      places.append(loop.isCurrent)
      await Task.yield()
      places.append(loop.isCurrent)
      let value = await Task(executorPreference: loop) { loop.isCurrent }.value
      return places + [value, loop.isCurrent]
    }
    #expect(places == [true, true, true, true, true])
  }

  @Test func `brings a task back that waited for another thread`() async throws {
    let isBack = try await withLoop { loop in
      let pool = try WorkerPool(threads: 1, queueLimit: 1)
      let wasThere = try await pool.run { !loop.isCurrent }
      pool.close()
      return wasThere && loop.isCurrent
    }
    #expect(isBack)
  }

  @Test func `takes jobs from many threads and loses none`() async throws {
    let total = try await withLoop { loop in
      let count = LoopBound(0, on: loop)
      let threads = try (0..<4).map { number in
        try LoopThread(name: "caller-\(number)") {
          for _ in 0..<5_000 { loop.execute { count.value += 1 } }
        }
      }
      try await loop.until { count.value == 20_000 }
      for thread in threads { thread.join() }
      return count.value
    }
    #expect(total == 20_000)
  }

  @Test func `keeps the order of one caller`() async throws {
    let order = try await withLoop { loop in
      let seen = LoopBound<[Int]>([], on: loop)
      let thread = try LoopThread(name: "caller") {
        for number in 0..<1_000 { loop.execute { seen.value.append(number) } }
      }
      try await loop.until { seen.value.count == 1_000 }
      thread.join()
      return seen.value
    }
    #expect(order == Array(0..<1_000))
  }

  @Test func `calls its hooks after the jobs of each turn`() async throws {
    let batches = try await withLoop { loop in
      let collected = LoopBound<[Int]>([], on: loop)
      let batches = LoopBound<[[Int]]>([], on: loop)
      loop.atEndOfTurn {
        guard !collected.value.isEmpty else { return }
        batches.value.append(collected.value)
        collected.value = []
      }
      for number in 0..<3 { loop.execute { collected.value.append(number) } }
      try await loop.until { !batches.value.isEmpty }
      return batches.value
    }
    #expect(batches == [[0, 1, 2]])
  }

  @Test func `still serves its descriptors while jobs make jobs`() async throws {
    try await withLoop { loop in
      let isDone = LoopBound(false, on: loop)
      @Sendable func again() {
        if !isDone.value { loop.execute { again() } }
      }
      again()
      await loop.nextTurn()
      isDone.value = true
    }
  }

  @Test func `runs on the thread that calls run, until it is stopped`() throws {
    let loop = try EventLoop()
    loop.execute { loop.stop() }
    loop.run()
    #expect(!loop.isCurrent)
  }

  @Test func `has a thread whose end join waits for`() throws {
    let box = LoopBound(0)
    let thread = try LoopThread(name: "counter") {
      for _ in 0..<1_000 { box.value += 1 }
    }
    thread.join()
    #expect(box.value == 1_000)
  }
}
