import EventLoop
import Foundation
import HTTP
import Synchronization
import TestSupport
import Testing

/// Holds every request until it is opened.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var arrived = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  var arrived: Int { state.withLock { $0.arrived } }

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        state.arrived += 1
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

private let get = "GET / HTTP/1.1\nHost: here\n\n"

@Suite("A suspended request", .timeLimit(.minutes(5)))
struct SuspensionTests {
  @Test func `waits beside hundreds of others`() async throws {
    let gate = Gate()
    try await withServer { request in
      await gate.pass()
      return Response(status: 200, body: Array(request.target.utf8))
    } _: { service async throws in
      let clients = try (0..<300).map { number in
        let client = Held(try service.client())
        client.use { $0.send("GET /\(number) HTTP/1.1\nHost: here\n\n") }
        return client
      }
      try await service.onLoop { try await service.loop.until { gate.arrived == 300 } }
      gate.open()
      for (number, client) in clients.enumerated() {
        #expect(try client.use { try $0.response() }.body == "/\(number)")
      }
    }
  }

  @Test func `is finished without a crash where its client has gone`() async throws {
    let gate = Gate()
    try await withServer { _ in
      await gate.pass()
      return Response(status: 200)
    } _: { service async throws in
      for number in 0..<40 {
        let client = try service.client()
        client.send(get)
        try await service.onLoop { try await service.loop.until { gate.arrived == number + 1 } }
        if number % 2 == 0 { client.reset() }
      }
      gate.open()
      // The server ends when nothing is being handled; a request that was lost would hold it.
      #expect(try service.answer(to: get).status == 200)
    }
  }
}

@Suite("A server that drains", .timeLimit(.minutes(5)))
struct DrainTests {
  @Test func `answers what is under way, closes, and takes no more`() async throws {
    let gate = Gate()
    try await withServer(grace: .seconds(20)) { _ in
      await gate.pass()
      return Response(status: 200)
    } _: { service async throws in
      var idle = try service.client()
      var busy = try service.client()
      busy.send(get)
      try await service.onLoop { try await service.loop.until { gate.arrived == 1 } }
      let draining = Task {
        try await service.onLoop { await service.server.drain(within: .seconds(20)) }
      }
      try await service.onLoop {
        try await service.loop.until { service.isRefusing }
      }
      gate.open()
      let response = try busy.response()
      #expect(response.status == 200)
      #expect(response["Connection"]?.lowercased() == "close")
      #expect(try busy.isEnded())
      try await draining.value
      #expect(try idle.isEnded())
    }
  }

  @Test func `still answers a request that comes on an open connection`() async throws {
    let gate = Gate()
    try await withServer { request in
      if request.path == "/held" { await gate.pass() }
      return Response(status: 200)
    } _: { service in
      var client = try service.client()
      client.send(get)
      #expect(try client.response()["Connection"] == nil)
      // As long as this one is being handled the server doesn't end.
      var held = try service.client()
      held.send("GET /held HTTP/1.1\nHost: here\n\n")
      try await service.onLoop { try await service.loop.until { gate.arrived == 1 } }
      let draining = Task {
        try await service.onLoop { await service.server.drain(within: .seconds(20)) }
      }
      try await service.onLoop { try await service.loop.until { service.isRefusing } }
      client.send(get)
      let response = try client.response()
      #expect(response.status == 200)
      #expect(response["Connection"]?.lowercased() == "close")
      gate.open()
      #expect(try held.response().status == 200)
      try await draining.value
    }
  }
}

/// A client that can stand in an array.
final class Held {
  private var client: RawClient

  init(_ client: consuming RawClient) { self.client = client }

  func use<Value>(_ body: (inout RawClient) throws -> Value) rethrows -> Value {
    try body(&client)
  }
}
