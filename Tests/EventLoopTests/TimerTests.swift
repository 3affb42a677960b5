import Clocks
import EventLoop
import TestSupport
import Testing

@Suite("A loop's timers")
struct TimerTests {
  @Test func `fire in the order of their deadlines`() async throws {
    let order = try await withLoop { loop in
      let fired = LoopBound<[Int]>([], on: loop)
      for delay in [5, 1, 4, 2, 3] {
        loop.schedule(after: .milliseconds(delay)) { fired.value.append(delay) }
      }
      try await loop.until { fired.value.count == 5 }
      return fired.value
    }
    #expect(order == [1, 2, 3, 4, 5])
  }

  @Test func `fire once, and not before their time`() async throws {
    let (count, waited) = try await withLoop { loop in
      let fired = LoopBound<[Instant]>([], on: loop)
      let begin = Instant.now()
      loop.schedule(after: .milliseconds(20)) { fired.value.append(Instant.now()) }
      try await loop.until { !fired.value.isEmpty }
      for _ in 0..<3 { await loop.nextTurn() }
      return (fired.value.count, fired.value[0] - begin)
    }
    #expect(count == 1)
    #expect(waited >= .milliseconds(20))
  }

  @Test func `don't fire once cancelled, by one of the same turn either`() async throws {
    let fired = try await withLoop { loop in
      let fired = LoopBound<[String]>([], on: loop)
      let doomed = loop.schedule(after: .zero) { fired.value.append("doomed") }
      loop.cancel(doomed)
      let late = LoopBound<TimerID?>(nil, on: loop)
      loop.schedule(after: .zero) {
        fired.value.append("first")
        if let id = late.value { loop.cancel(id) }
      }
      late.value = loop.schedule(after: .zero) { fired.value.append("cancelled by the first") }
      // Both are due by now: the turn that fires them is one.
      let begin = Instant.now()
      while Instant.now() <= begin + .microseconds(10) {}
      await loop.nextTurn()
      return fired.value
    }
    #expect(fired == ["first"])
  }

  @Test func `with one deadline fire in the order of their making`() async throws {
    let order = try await withLoop { loop in
      let fired = LoopBound<[Int]>([], on: loop)
      for number in 0..<100 {
        loop.schedule(after: .milliseconds(1)) { fired.value.append(number) }
      }
      try await loop.until { fired.value.count == 100 }
      return fired.value
    }
    #expect(order == Array(0..<100))
  }

  @Test func `may be cancelled after they fired`() async throws {
    try await withLoop { loop in
      let timer = loop.schedule(after: .zero) {}
      await loop.nextTurn()
      loop.cancel(timer)
      loop.cancel(timer)
    }
  }
}
