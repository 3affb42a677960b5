import EventLoop
import HTTP
import TestSupport
import Testing

/// Answers with what it was asked, as text.
private func mirror(_ request: Request) -> Response {
  var response = Response(
    status: 200,
    contentType: "text/plain",
    body: Array("\(request.method) \(request.target) ".utf8) + request.body
  )
  response.add("X-Peer", request.peer)
  return response
}

@Suite("A server")
struct ServerTests {
  @Test func `answers one request after the other on a connection`() async throws {
    try await withServer(handler: { mirror($0) }) { service async throws in
      var client = try service.client()
      for number in 0..<20 {
        client.send("GET /\(number) HTTP/1.1\nHost: here\n\n")
        let response = try client.response()
        #expect(response.status == 200)
        #expect(response.body == "GET /\(number) ")
        #expect(response["Content-Type"] == "text/plain")
        #expect(response["Date"] != nil)
        #expect(response["Connection"] == nil)
      }
    }
  }

  @Test func `answers requests sent in one piece in their order`() async throws {
    try await withServer(handler: { mirror($0) }) { service async throws in
      var client = try service.client()
      client.send(
        (0..<10).map { "POST /\($0) HTTP/1.1\nHost: here\nContent-Length: 1\n\n\($0)" }.joined()
      )
      for number in 0..<10 {
        #expect(try client.response().body == "POST /\(number) \(number)")
      }
    }
  }

  @Test func `puts a chunked body together`() async throws {
    try await withServer(handler: { mirror($0) }) { service async throws in
      var client = try service.client()
      client.send("POST / HTTP/1.1\nHost: here\nTransfer-Encoding: chunked\n\n")
      for chunk in ["4\nTea \n", "B\nwith Babbag\n", "1\ne\n", "0\n\n"] { client.send(chunk) }
      #expect(try client.response().body == "POST / Tea with Babbage")
      client.send("GET /after HTTP/1.1\nHost: here\n\n")
      #expect(try client.response().body == "GET /after ")
    }
  }

  @Test func `sends no body to HEAD, but its length`() async throws {
    try await withServer(handler: { mirror($0) }) { service async throws in
      var client = try service.client()
      client.send("HEAD /a HTTP/1.1\nHost: here\n\n")
      let response = try client.response(toHead: true)
      #expect(response.status == 200)
      #expect(response["Content-Length"] == "8")
      client.send("GET /b HTTP/1.1\nHost: here\n\n")
      #expect(try client.response().body == "GET /b ")
    }
  }

  @Test func `closes when the client asks for it`() async throws {
    try await withServer(handler: { mirror($0) }) { service async throws in
      var client = try service.client()
      client.send("GET / HTTP/1.1\nHost: here\nConnection: close\n\n")
      #expect(try client.response()["Connection"]?.lowercased() == "close")
      #expect(try client.isEnded())
    }
  }

  @Test func `sends a body with every byte in it`() async throws {
    let body = (0..<100_000).map { UInt8(ascii: "a") + UInt8($0 % 26) }
    try await withServer(handler: { _ in Response(status: 200, body: body) }) {
      service async throws in
      let answer = try service.answer(to: "GET / HTTP/1.1\nHost: here\n\n")
      #expect(Array(answer.body.utf8) == body)
    }
  }

  @Test func `tells the client's address`() async throws {
    try await withServer(handler: { mirror($0) }) { service async throws in
      #expect(try service.answer(to: "GET / HTTP/1.1\nHost: here\n\n")["X-Peer"] == "127.0.0.1")
    }
  }

  @Test(.enabled(if: hasIPv6))
  func `listens on IPv6 too`() async throws {
    try await withServer(host: "::1", handler: { mirror($0) }) { service async throws in
      var client = try RawClient(service.port, host: "::1")
      client.send("GET / HTTP/1.1\nHost: here\n\n")
      #expect(try client.response()["X-Peer"] == "::1")
    }
  }

  @Test(arguments: ["GET / HTTP/1.1\n\n", "GET /\n\n", "\u{1}\u{2}\u{3}\n\n"])
  func `survives what is no HTTP`(text: String) async throws {
    try await withServer(handler: { mirror($0) }) { service async throws in
      let client = try service.client()
      client.send(text)
      #expect(try service.answer(to: "GET / HTTP/1.1\nHost: here\n\n").status == 200)
    }
  }
}

/// Whether this machine has the IPv6 loopback.
private let hasIPv6 = (try? Listener(host: "::1", port: 0, count: 1)) != nil
