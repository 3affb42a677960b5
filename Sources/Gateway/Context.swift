import EventLog
import HTTP
import Network
import Profiles

/// Where a request came from and what it is called; made once for each request that writes.
struct Context {
  /// Bytes of a User-Agent that are kept.
  static let agentLimit = 256
  /// Bytes of a request id that is accepted from outside.
  static let requestIDLimit = 128

  let source: Source

  init(
    _ request: Request,
    requestID: String,
    session: SessionID?,
    isTrustedProxy: (String) -> Bool
  ) {
    source = Source(
      address: Self.client(request, isTrustedProxy),
      agent: Self.agent(request),
      session: session,
      requestID: requestID,
      traceID: Self.traceID(request)
    )
  }

  /// The request's own id where it is acceptable: visible words that can't break a log line.
  static func acceptableRequestID(_ request: Request) -> String? {
    guard let bytes = request.headerBytes("X-Request-Id"),
      (1...requestIDLimit).contains(bytes.count), bytes.allSatisfy(isWordByte)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// The right-most hop that is no proxy of ours: those left of it are only claimed.
  private static func client(_ request: Request, _ isTrusted: (String) -> Bool) -> String {
    var client = request.peer
    let hops = request.headers("X-Forwarded-For").joined(separator: ",")
      .split(separator: ",").map { $0.trimmingSpaces() }
    for hop in hops.reversed() {
      guard isTrusted(client) else { break }
      // A hop that is no address ends the chain: nothing left of it can be believed.
      guard IPAddress(hop) != nil else { break }
      client = hop
    }
    return client
  }

  private static func agent(_ request: Request) -> String? {
    guard let bytes = request.headerBytes("User-Agent") else { return nil }
    let text = String(decoding: bytes.prefix(agentLimit), as: UTF8.self)
    return String(text.unicodeScalars.filter { $0.properties.generalCategory != .control })
  }

  /// The trace id of `traceparent` (W3C Trace Context); nil where it is malformed.
  private static func traceID(_ request: Request) -> String? {
    guard let text = request.header("traceparent") else { return nil }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0].count == 2, parts[0] != "ff", parts[1].count == 32,
      parts[2].count == 16, parts[3].count == 2,
      parts[0] != "00" || parts.count == 4,
      parts[0...3].allSatisfy({ $0.utf8.allSatisfy(isLowercaseHex) }),
      parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
    else { return nil }
    return String(parts[1])
  }

  private static func isLowercaseHex(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}
