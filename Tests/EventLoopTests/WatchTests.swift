import CLinux
import EventLoop
import TestSupport
import Testing

/// The two ends of a pipe.
private struct Ends {
  let reading: Int32
  let writing: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    (reading, writing) = (ends[0], ends[1])
  }

  func write() throws {
    var byte: UInt8 = 1
    try #require(CLinux.write(writing, &byte, 1) == 1)
  }

  func read() {
    var byte: UInt8 = 0
    _ = CLinux.read(reading, &byte, 1)
  }

  func close() {
    _ = CLinux.close(reading)
    _ = CLinux.close(writing)
  }
}

@Suite("A watched descriptor")
struct WatchTests {
  @Test func `is reported as long as it is ready`() async throws {
    let calls = try await withLoop { loop in
      let ends = try Ends()
      let calls = LoopBound(0, on: loop)
      try loop.watch(ends.reading, for: .read) { ready in
        guard ready == .read else { return }
        calls.value += 1
        // Left unread twice: it stays ready.
        if calls.value == 3 { ends.read() }
      }
      try ends.write()
      try await loop.until { calls.value == 3 }
      await loop.nextTurn()
      loop.unwatch(ends.reading)
      ends.close()
      return calls.value
    }
    #expect(calls == 3)
  }

  @Test func `is not reported once unwatched, and can be watched again`() async throws {
    let calls = try await withLoop { loop in
      let ends = try Ends()
      let calls = LoopBound<[String]>([], on: loop)
      try loop.watch(ends.reading, for: .read) { _ in calls.value.append("first") }
      loop.unwatch(ends.reading)
      loop.unwatch(ends.reading)
      try ends.write()
      await loop.nextTurn()
      try loop.watch(ends.reading, for: .read) { _ in
        calls.value.append("second")
        ends.read()
      }
      try await loop.until { !calls.value.isEmpty }
      loop.unwatch(ends.reading)
      ends.close()
      return calls.value
    }
    #expect(calls == ["second"])
  }

  @Test func `can be watched for something else`() async throws {
    let seen = try await withLoop { loop in
      let ends = try Ends()
      let seen = LoopBound<[Interest]>([], on: loop)
      // A pipe that nothing was written to is ready for writing alone.
      try loop.watch(ends.writing, for: .read) { ready in
        seen.value.append(ready)
        loop.change(ends.writing, to: [])
      }
      await loop.nextTurn()
      loop.change(ends.writing, to: .write)
      try await loop.until { !seen.value.isEmpty }
      loop.unwatch(ends.writing)
      ends.close()
      return seen.value
    }
    #expect(seen == [.write])
  }

  @Test func `that is none is refused with the call's name`() async throws {
    try await withLoop { loop in
      let error = #expect(throws: SystemError.self) {
        try loop.watch(1_000_000, for: .read) { _ in }
      }
      #expect(error?.call == "epoll_ctl")
      #expect(error?.code == EBADF)
    }
  }

  @Test func `whose other end is closed reads as ready`() async throws {
    try await withLoop { loop in
      let ends = try Ends()
      let isReady = LoopBound(false, on: loop)
      try loop.watch(ends.reading, for: .read) { ready in
        isReady.value = ready.contains(.read)
        loop.unwatch(ends.reading)
      }
      _ = close(ends.writing)
      try await loop.until { isReady.value }
      _ = close(ends.reading)
    }
  }
}
