import HTTP
import TestSupport
import Testing

@Suite("A request's header")
struct HeaderTests {
  /// What `look` finds in a request with these header lines.
  private func found(
    _ lines: String,
    target: String = "/",
    _ look: @escaping @Sendable (Request) -> String
  ) async throws -> String {
    try await withServer {
      Response(status: 200, body: Array(look($0).utf8))
    } _: { service async throws in
      try service.answer(to: "GET \(target) HTTP/1.1\nHost: here\n\(lines)\n").body
    }
  }

  @Test func `is found in any case`() async throws {
    let text = try await found("If-MATCH: \"5\"\n") { request in
      "\(request.header("if-match") ?? "none") \(request.headers("IF-match"))"
    }
    #expect(text == "\"5\" [\"\\\"5\\\"\"]")
  }

  @Test func `gives all its values in order, and the first alone`() async throws {
    let text = try await found("X-A: one\nX-B: other\nx-a: two\nX-A: three\n") { request in
      (request.headers("X-A") + [request.header("X-A") ?? "none"]).joined(separator: " ")
    }
    #expect(text == "one two three one")
  }

  @Test func `that is not there is nil, and empty where it is empty`() async throws {
    let text = try await found("X-Empty:\n") { request in
      "\(request.header("X-None") == nil) \(request.header("X-Empty") ?? "nil") "
        + "\(request.headers("X-None").count) \(request.headerBytes("X-Empty")?.count ?? -1)"
    }
    #expect(text == "true  0 0")
  }

  @Test func `loses the spaces around its value`() async throws {
    #expect(try await found("X-A:   a b  \n") { "[\($0.header("X-A") ?? "")]" } == "[a b]")
  }

  @Test func `comes with a target that is split but not decoded`() async throws {
    let text = try await found("", target: "/a%20b?c=%2B+d?e") { request in
      "\(request.target) | \(request.path) | \(request.query ?? "none")"
    }
    #expect(text == "/a%20b?c=%2B+d?e | /a%20b | c=%2B+d?e")
    #expect(try await found("") { "\($0.query == nil)" } == "true")
    #expect(try await found("", target: "/?") { "\($0.query == "")" } == "true")
  }
}

@Suite("A response's header")
struct ResponseHeaderTests {
  @Test func `is sent in order, and may stand twice`() async throws {
    try await withServer { _ in
      var response = Response(status: 204)
      response.add("X-A", "one")
      response.add("X-A", "two")
      return response
    } _: { service async throws in
      let answer = try service.answer(to: "GET / HTTP/1.1\nHost: here\n\n")
      #expect(answer.status == 204)
      #expect(answer.headers.filter { $0.name == "X-A" }.map(\.value) == ["one", "two"])
      #expect(answer["Content-Length"] == nil)
    }
  }

  @Test func `is found in any case`() {
    var response = Response(status: 200, contentType: "application/json")
    response.add("ETag", "\"1\"")
    #expect(response.header("content-type") == "application/json")
    #expect(response.header("etag") == "\"1\"")
    #expect(response.header("location") == nil)
  }
}

@Suite("A listener")
struct ListenerTests {
  @Test func `chooses one free port for all its sockets`() throws {
    let listener = try Listener(host: "127.0.0.1", port: 0, count: 3)
    #expect(listener.port != 0)
    #expect(listener.sockets.count == 3)
    #expect(Set(listener.sockets).count == 3)
  }

  @Test func `refuses a host that is none`() {
    #expect(throws: (any Error).self) { try Listener(host: "256.1.1.1.", port: 0, count: 1) }
  }
}
