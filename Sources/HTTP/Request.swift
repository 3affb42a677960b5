import CMicroHTTPD
import Glibc

/// A request with its whole body, on its event loop until the response is given.
///
/// `@unchecked Sendable`: a request belongs to the loop of its connection, and the task that
/// answers it runs there alone.
public final class Request: @unchecked Sendable {
  /// The request target as sent: path and query, still escaped.
  public let target: String
  /// The method, as sent; set once the header has been read.
  public internal(set) var method = ""
  /// The body.
  public internal(set) var body: [UInt8] = []

  let connection: OpaquePointer
  /// Where the target ends in the connection's buffer, until the header has been read.
  var targetEnd: UnsafePointer<CChar>?
  var phase = Phase.header
  /// Body bytes that arrived, those that were thrown away included.
  var received = 0
  var response: Response?
  /// What the body of the response is written to, while it is sent.
  var writer: BodyWriter?

  /// How far a request has come.
  enum Phase {
    case header
    case body
    case handling
    case answered
  }

  init(target: String, connection: OpaquePointer) {
    self.target = Self.originForm(of: target)
    self.connection = connection
  }

  /// The target without scheme and authority, which a client may send as to a proxy (RFC 9112
  /// section 3.2.2).
  private static func originForm(of target: String) -> String {
    guard !target.hasPrefix("/"), target.lowercased().hasPrefix("http") else { return target }
    let parts = target.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return target }
    let rest = parts[1]
    guard
      let path = rest.utf8.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") })
    else { return "/" }
    return rest[path...].hasPrefix("/") ? String(rest[path...]) : "/" + rest[path...]
  }

  /// The part of the target before the query.
  public var path: Substring {
    target.utf8.firstIndex(of: UInt8(ascii: "?")).map { target[..<$0] } ?? target[...]
  }

  /// The part of the target after the first `?`.
  public var query: Substring? {
    target.utf8.firstIndex(of: UInt8(ascii: "?")).map {
      target[target.utf8.index(after: $0)...]
    }
  }

  /// The value of the first header of this name, in any case.
  public func header(_ name: StaticString) -> String? {
    headerBytes(name).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The bytes of the first header of this name; valid until the response is given.
  public func headerBytes(_ name: StaticString) -> UnsafeRawBufferPointer? {
    var value: UnsafePointer<CChar>?
    var count = 0
    let found = name.withUTF8Buffer { name in
      name.withMemoryRebound(to: CChar.self) { name in
        MHD_lookup_connection_value_n(
          connection,
          .HEADER_KIND,
          name.baseAddress,
          name.count,
          &value,
          &count
        )
      }
    }
    guard found == .YES, let value else { return nil }
    // libmicrohttpd leaves the space behind a value, which is no part of it (RFC 9110, 5.5).
    while count > 0, isSpace(value[count - 1]) { count -= 1 }
    return UnsafeRawBufferPointer(start: value, count: count)
  }

  /// The values of all headers of this name, in order.
  public func headers(_ name: StaticString) -> [String] {
    // Most requests have none, which costs no walk through all of them.
    guard headerBytes(name) != nil else { return [] }
    var search = (name: name.description.lowercased(), values: [String]())
    withUnsafeMutablePointer(to: &search) { search in
      _ = MHD_get_connection_values(
        connection,
        .HEADER_KIND,
        { context, _, key, value in
          guard let key, let value else { return .YES }
          let search = context?.assumingMemoryBound(to: (name: String, values: [String]).self)
          if let search, String(cString: key).lowercased() == search.pointee.name {
            var count = strlen(value)
            while count > 0, isSpace(value[count - 1]) { count -= 1 }
            search.pointee.values.append(
              String(decoding: UnsafeRawBufferPointer(start: value, count: count), as: UTF8.self)
            )
          }
          return .YES
        },
        search
      )
    }
    return search.values
  }

  /// The address of the other end of the connection, without its port.
  public var peer: String {
    guard let address = jejak_client_address(connection) else { return "" }
    let family = Int32(address.pointee.sa_family)
    let number = UnsafeRawPointer(address) + jejak_address_offset(address)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
      guard let end = inet_ntop(family, number, text.baseAddress, socklen_t(text.count)) else {
        return ""
      }
      return String(cString: end)
    }
  }
}

private func isSpace(_ character: CChar) -> Bool {
  character == CChar(UInt8(ascii: " ")) || character == CChar(UInt8(ascii: "\t"))
}
