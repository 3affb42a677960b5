import EventLoop
import Foundation
import HTTP
import Synchronization
import TestSupport
import Testing

private let get = "GET / HTTP/1.1\nHost: here\n\n"

/// A body of `count` lines, each with its number.
private func lines(_ count: Int) -> Response.Producer {
  { writer in
    for number in 0..<count { try await writer.write(Array("line \(number)\n".utf8)) }
  }
}

private func text(_ count: Int) -> [UInt8] {
  Array((0..<count).map { "line \($0)\n" }.joined().utf8)
}

private func streamed(_ producer: @escaping Response.Producer) -> Response {
  Response(status: 200, contentType: "text/plain", stream: producer)
}

/// How many producers began and ended, and how.
final class Ends: Sendable {
  struct Counts {
    var begun = 0
    var closed = 0
    var written = 0
  }

  private let counts = Mutex(Counts())

  var now: Counts { counts.withLock { $0 } }

  /// Writes pieces of 10,000 bytes until the writer is closed.
  func writeForEver(_ writer: BodyWriter) async throws {
    counts.withLock { $0.begun += 1 }
    do {
      while true {
        try await writer.write([UInt8](repeating: 120, count: 10_000))
        counts.withLock { $0.written += 10_000 }
      }
    } catch {
      counts.withLock { $0.closed += 1 }
      throw error
    }
  }
}

@Suite("A streamed body", .timeLimit(.minutes(5)))
struct StreamTests {
  @Test(arguments: [0, 1, 200_000])
  func `arrives whole, and the connection is kept`(count: Int) async throws {
    try await withServer(handler: { _ in streamed(lines(count)) }) { service async throws in
      var client = try service.client()
      for _ in 0..<2 {
        client.send(get)
        let head = try client.response()
        #expect(head.status == 200)
        #expect(head["Transfer-Encoding"] == "chunked")
        #expect(head["Content-Type"] == "text/plain")
        #expect(try client.chunks() == text(count))
      }
    }
  }

  @Test func `ends with the connection for HTTP 1.0`() async throws {
    try await withServer(handler: { _ in streamed(lines(50_000)) }) { service async throws in
      var client = try service.client()
      client.send("GET / HTTP/1.0\n\n")
      #expect(try client.response()["Transfer-Encoding"] == nil)
      var body: [UInt8] = []
      while true {
        let bytes = try client.bytes()
        if bytes.isEmpty { break }
        body += bytes
      }
      #expect(body == text(50_000))
    }
  }

  @Test func `is sent piece by piece, the head before the first`() async throws {
    let steps = [Gate(), Gate()]
    try await withServer { _ in
      streamed { writer in
        for step in steps {
          await step.pass()
          try await writer.write(Array("piece".utf8))
        }
      }
    } _: { service async throws in
      var client = try service.client()
      client.send(get)
      #expect(try client.response().status == 200)
      for step in steps {
        step.open()
        #expect(try client.chunk() == Array("piece".utf8))
      }
      #expect(try client.chunk() == nil)
    }
  }

  @Test func `isn't produced for HEAD`() async throws {
    let ends = Ends()
    try await withServer(handler: { _ in streamed(ends.writeForEver) }) { service async throws in
      var client = try service.client()
      client.send("HEAD / HTTP/1.1\nHost: here\n\n")
      #expect(try client.response(toHead: true)["Content-Type"] == "text/plain")
      #expect(try client.bytes() == [])
    }
    #expect(ends.now.begun == 0)
  }

  @Test(arguments: ["1.0", "1.1"])
  func `that fails midway is cut, not ended`(version: String) async throws {
    struct Failure: Error {}
    let step = Gate()
    try await withServer { _ in
      streamed { writer in
        try await writer.write(Array("half".utf8))
        await step.pass()
        throw Failure()
      }
    } _: { service async throws in
      var client = try service.client()
      client.send("GET / HTTP/\(version)\nHost: here\n\n")
      #expect(try client.response().status == 200)
      #expect(String(decoding: try client.bytes(), as: UTF8.self).contains("half"))
      step.open()
      #expect(try client.bytes() == [])
      let wasReset = client.wasReset
      #expect(wasReset)
    }
  }

  @Test func `waits for a slow reader within its bound, and holds up nobody else`() async throws {
    let ends = Ends()
    try await withServer { request in
      request.path == "/slow" ? streamed(ends.writeForEver) : Response(status: 204)
    } _: { service async throws in
      let client = try service.client()
      client.send("GET /slow HTTP/1.1\nHost: here\n\n")
      // What the sockets of both sides keep is sent; then nothing is taken any more.
      var before = -1
      try await service.onLoop {
        try await service.loop.until { ends.now.written > BodyWriter.bufferLimit }
      }
      while before < ends.now.written {
        before = ends.now.written
        for _ in 0..<100 { #expect(try service.answer(to: get).status == 204) }
      }
      #expect(ends.now.closed == 0)
      client.reset()
      try await service.onLoop { try await service.loop.until { ends.now.closed == 1 } }
    }
  }

  @Test func `is cut for one who takes nothing for the idle limit`() async throws {
    let ends = Ends()
    var limits = Server.Limits()
    limits.idleSeconds = 1
    try await withServer(limits: limits, handler: { _ in streamed(ends.writeForEver) }) {
      service async throws in
      var client = try service.client()
      client.send(get)
      #expect(try client.response().status == 200)
      try await service.onLoop { try await service.loop.until { ends.now.closed == 1 } }
    }
  }

  @Test func `ends its producer where the client has gone`() async throws {
    let ends = Ends()
    try await withServer(handler: { _ in streamed(ends.writeForEver) }) { service async throws in
      for number in 1...40 {
        var client = try service.client()
        client.send(get)
        if number % 2 == 0 { _ = try client.response() }
        if number % 3 == 0 { client.reset() }
      }
      try await service.onLoop {
        try await service.loop.until { ends.now.begun > 0 && ends.now.closed == ends.now.begun }
      }
    }
  }
}

@Suite("A server that drains while it streams", .timeLimit(.minutes(5)))
struct StreamDrainTests {
  @Test func `lets a body end within the grace`() async throws {
    let step = Gate()
    try await withServer(grace: .seconds(20)) { _ in
      streamed { writer in
        try await writer.write(Array("half".utf8))
        await step.pass()
        try await writer.write(Array("end \(writer.isDraining)".utf8))
      }
    } _: { service async throws in
      var client = try service.client()
      client.send(get)
      #expect(try client.response().status == 200)
      #expect(try client.chunk() == Array("half".utf8))
      let draining = Task {
        try await service.onLoop { await service.server.drain(within: .seconds(20)) }
      }
      try await service.onLoop { try await service.loop.until { service.isRefusing } }
      step.open()
      #expect(try client.chunk() == Array("end true".utf8))
      #expect(try client.chunk() == nil)
      try await draining.value
      #expect(try client.isEnded())
    }
  }

  @Test func `tells whoever waits without end, and ends soon`() async throws {
    try await withServer(grace: .seconds(30)) { _ in
      streamed { writer in
        try await writer.write(Array("begun".utf8))
        await withCheckedContinuation { continuation in
          writer.whenEnding { continuation.resume() }
        }
      }
    } _: { service async throws in
      var client = try service.client()
      client.send(get)
      #expect(try client.response().status == 200)
      #expect(try client.chunk() == Array("begun".utf8))
      try await service.onLoop { await service.server.drain(within: .seconds(30)) }
      #expect(try client.chunk() == nil)
    }
  }

  @Test func `cuts what goes on after the grace, read or not`() async throws {
    let ends = Ends()
    try await withServer { request in
      guard request.path == "/silent" else { return streamed(ends.writeForEver) }
      return streamed { writer in
        // Suspended when the grace ends: the draining alone doesn't end it.
        while !writer.isClosed { try await Task.sleep(for: .milliseconds(1)) }
        throw BodyWriter.Closed()
      }
    } _: { service async throws in
      let client = try service.client()
      client.send(get)
      var silent = try service.client()
      silent.send("GET /silent HTTP/1.1\nHost: here\n\n")
      #expect(try silent.response().status == 200)
      try await service.onLoop { try await service.loop.until { ends.now.begun == 1 } }
      try await service.onLoop { await service.server.drain(within: .milliseconds(50)) }
      #expect(ends.now.closed == 1)
      #expect(try silent.bytes() == [])
    }
  }
}
