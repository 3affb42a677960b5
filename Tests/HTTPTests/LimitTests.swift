import HTTP
import TestSupport
import Testing

private var small: Server.Limits {
  var limits = Server.Limits()
  limits.body = 100
  limits.discarded = 100_000
  return limits
}

private func length(_ request: Request) -> Response {
  Response(status: 200, body: Array("\(request.body.count)".utf8))
}

private func post(_ count: Int) -> String {
  "POST / HTTP/1.1\nHost: here\nContent-Length: \(count)\n\n" + String(repeating: "x", count: count)
}

@Suite("A server's limits")
struct LimitTests {
  @Test func `let a body of just that size through`() async throws {
    try await withServer(limits: small, handler: { length($0) }) { service async throws in
      #expect(try service.answer(to: post(100)).body == "100")
      #expect(try service.answer(to: post(0)).body == "0")
    }
  }

  @Test func `answer 413 to a larger one, read to its end, and keep the connection`() async throws {
    try await withServer(limits: small, handler: { length($0) }) { service async throws in
      var client = try service.client()
      client.send(post(101))
      #expect(try client.response().status == 413)
      client.send(post(100_000))
      #expect(try client.response().status == 413)
      client.send(post(5))
      #expect(try client.response().body == "5")
    }
  }

  @Test func `answer 413 at once to one that isn't worth reading`() async throws {
    try await withServer(limits: small, handler: { length($0) }) { service async throws in
      var client = try service.client()
      client.send("POST / HTTP/1.1\nHost: here\nContent-Length: 100001\n\n")
      let response = try client.response()
      #expect(response.status == 413)
      #expect(response["Connection"]?.lowercased() == "close")
      #expect(try client.isEnded())
    }
  }

  @Test func `hold for a chunked body too`() async throws {
    try await withServer(limits: small, handler: { length($0) }) { service async throws in
      var client = try service.client()
      client.send("POST / HTTP/1.1\nHost: here\nTransfer-Encoding: chunked\n\n")
      for _ in 0..<10 { client.send("10\n0123456789abcdef\n") }
      client.send("0\n\n")
      #expect(try client.response().status == 413)
      client.send(post(5))
      #expect(try client.response().body == "5")
    }
  }

  @Test func `end a connection whose chunked body never ends`() async throws {
    try await withServer(limits: small, handler: { length($0) }) { service async throws in
      let client = try service.client()
      client.send("POST / HTTP/1.1\nHost: here\nTransfer-Encoding: chunked\n\n")
      let chunk = "2710\n" + String(repeating: "x", count: 10_000) + "\n"
      for _ in 0..<20 { client.send(chunk) }
      #expect(try service.answer(to: post(5)).body == "5")
    }
  }

  @Test func `tell a client that waits to go on`() async throws {
    try await withServer(limits: small, handler: { length($0) }) { service async throws in
      var client = try service.client()
      client.send("POST / HTTP/1.1\nHost: here\nExpect: 100-continue\nContent-Length: 3\n\n")
      #expect(try client.response().status == 100)
      client.send("abc")
      #expect(try client.response().body == "3")
    }
  }

  @Test func `tell a client that waits not to send too much`() async throws {
    try await withServer(limits: small, handler: { length($0) }) { service async throws in
      var client = try service.client()
      client.send("POST / HTTP/1.1\nHost: here\nExpect: 100-continue\nContent-Length: 101\n\n")
      #expect(try client.response().status == 413)
      #expect(try client.isEnded())
    }
  }

  @Test func `refuse a target that is too long, and one byte less is taken`() async throws {
    try await withServer(limits: small, handler: { length($0) }) { service async throws in
      for (count, status) in [(8_192, 200), (8_193, 414)] {
        let target = "/" + String(repeating: "x", count: count - 1)
        #expect(try service.answer(to: "GET \(target) HTTP/1.1\nHost: here\n\n").status == status)
      }
    }
  }

  @Test func `refuse a body whose end can't be found`() async throws {
    try await withServer(limits: small, handler: { length($0) }) { service async throws in
      var client = try service.client()
      client.send("POST / HTTP/1.1\nHost: here\nTransfer-Encoding: gzip\n\nabc")
      #expect(try client.response().status == 501)
      #expect(try client.isEnded())
    }
  }

  @Test func `answer a header that is too large without the handler`() async throws {
    try await withServer(handler: { length($0) }) { service async throws in
      let line = "X-Long: " + String(repeating: "x", count: 40_000)
      let response = try service.answer(to: "GET / HTTP/1.1\nHost: here\n\(line)\n\n")
      #expect([413, 431].contains(response.status))
    }
  }
}
