import EventLog
import HTTP
import Profiles
import TestSupport
import Testing

@testable import Gateway

/// What `look` makes of a request with these header lines.
private func seen(
  _ lines: String = "",
  target: String = "/",
  _ look: @escaping @Sendable (Request) -> String
) async throws -> String {
  try await withServer {
    Response(status: 200, body: Array(look($0).utf8))
  } _: {
    service in
    try service.answer(to: "GET \(target) HTTP/1.1\nHost: here\n\(lines)\n").body
  }
}

@Suite("A query")
struct QueryTests {
  /// The values of the parameters `a` and `b`, or the detail of the refusal.
  private func values(_ query: String) async throws -> String {
    try await seen(target: "/x?\(query)") { request in
      do throws(Problem) {
        let query = try Query(request, known: ["a", "b", "é"])
        return "\(query["a"] ?? "nil") \(query["b"] ?? "nil")"
      } catch {
        return error.code
      }
    }
  }

  @Test(arguments: [
    ("a=1&b=2", "1 2"), ("a=1", "1 nil"), ("", "nil nil"), ("&&a=1&", "1 nil"), ("a", " nil"),
    ("a=", " nil"), ("a=x=y", "x=y nil"), ("a=1+2", "1+2 nil"), ("a=%31%2B%26", "1+& nil"),
    ("%61=1", "1 nil"), ("a=%C3%A9", "é nil"), ("a=%c3%a9", "é nil"),
  ])
  func `is decoded, and a plus is a plus`(query: String, expected: String) async throws {
    #expect(try await values(query) == expected)
  }

  @Test(arguments: [
    "c=1", "a=1&a=2", "a=1&%61=2", "a=%", "a=%4", "a=%zz", "a=%+f", "a=%-1", "a=%ff", "=1", "A=1",
  ])
  func `that is malformed, repeated or unknown is refused`(query: String) async throws {
    #expect(try await values(query) == "malformed-request")
  }

  @Test func `has limits, cursors and choices`() async throws {
    func read(_ query: String) async throws -> String {
      try await seen(target: "/x?\(query)") { request in
        do throws(Problem) {
          let query = try Query(request, known: ["limit", "cursor", "order"])
          let cursor = try query.cursor { Int($0) }
          let order = try query.choice("order", [("asc", 1), ("desc", 2)], standard: 3)
          return "\(try query.limit()) \(cursor ?? -1) \(order)"
        } catch {
          return error.code
        }
      }
    }
    #expect(try await read("") == "50 -1 3")
    #expect(try await read("limit=200&cursor=\(Query.cursor(7))&order=desc") == "200 7 2")
    for query in [
      "limit=0", "limit=201", "limit=x", "limit=", "cursor=7!", "cursor=\(Query.cursor("x"))",
      "order=up", "order=",
    ] {
      #expect(try await read(query) == "malformed-request", "\(query)")
    }
  }
}

@Suite("A request's context")
struct ContextTests {
  /// What `look` tells of the context, with 127.0.0.1 and 10.* as proxies.
  private func context(
    _ lines: String,
    isTrusted: Bool = true,
    _ look: @escaping @Sendable (Source) -> String?
  ) async throws -> String {
    try await seen(lines) { request in
      let context = Context(
        request,
        requestID: "id",
        session: nil,
        isTrustedProxy: { isTrusted && ($0 == "127.0.0.1" || $0.hasPrefix("10.")) }
      )
      return look(context.source) ?? "nil"
    }
  }

  @Test(arguments: [
    ("", "127.0.0.1"),
    ("X-Forwarded-For: 192.0.2.1\n", "192.0.2.1"),
    ("X-Forwarded-For: 198.51.100.9, 192.0.2.1\n", "192.0.2.1"),
    ("X-Forwarded-For: 192.0.2.1, 10.0.0.1, 10.0.0.2\n", "192.0.2.1"),
    ("X-Forwarded-For: 198.51.100.9\nX-Forwarded-For: 192.0.2.1,10.0.0.1\n", "192.0.2.1"),
    ("X-Forwarded-For: 10.0.0.3, 10.0.0.1\n", "10.0.0.3"),
    ("X-Forwarded-For: 2001:db8::1\n", "2001:db8::1"),
    ("X-Forwarded-For: 192.0.2.1, unknown, 10.0.0.1\n", "10.0.0.1"),
    ("X-Forwarded-For: ,,\n", "127.0.0.1"),
  ])
  func `has the right-most hop that is no proxy of ours`(
    lines: String,
    client: String
  )
    async throws
  {
    #expect(try await context(lines) { $0.address } == client)
  }

  @Test func `believes no header of an untrusted peer`() async throws {
    let address = try await context("X-Forwarded-For: 192.0.2.1\n", isTrusted: false) { $0.address }
    #expect(address == "127.0.0.1")
  }

  @Test(arguments: [
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true),
    ("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", true),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", false),
    ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
    ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false),
    ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
    ("00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", false),
    ("nonsense", false),
  ])
  func `keeps the trace of a well-formed traceparent`(value: String, isKept: Bool) async throws {
    let trace = try await context("traceparent: \(value)\n") { $0.traceID }
    #expect(trace == (isKept ? "0af7651916cd43dd8448eb211c80319c" : "nil"))
  }

  @Test func `keeps the start of the agent`() async throws {
    #expect(try await context("User-Agent: test/1 (x)\n") { $0.agent } == "test/1 (x)")
    #expect(try await context("") { $0.agent } == "nil")
    let long = String(repeating: "a", count: 1_000)
    #expect(try await context("User-Agent: \(long)\n") { $0.agent }.count == Context.agentLimit)
  }

  @Test(arguments: [
    ("abc-1.2_3", "abc-1.2_3"), ("a b", "nil"), ("a/b", "nil"), ("é", "nil"), ("", "nil"),
    (String(repeating: "a", count: 128), String(repeating: "a", count: 128)),
    (String(repeating: "a", count: 129), "nil"),
  ])
  func `takes a request id that can't break a log line`(value: String, id: String) async throws {
    let seen = try await seen("X-Request-Id: \(value)\n") {
      Context.acceptableRequestID($0) ?? "nil"
    }
    #expect(seen == id)
  }

  @Test func `makes other ids that never repeat`() {
    var ids = RequestIDs()
    let made = Set((0..<10_000).map { _ in ids.next() })
    #expect(made.count == 10_000)
    #expect(made.allSatisfy { $0.count == 16 && $0.allSatisfy(\.isHexDigit) })
  }
}
