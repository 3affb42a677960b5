import CMicroHTTPD

/// What is answered: a status, headers, and a body of known length.
public struct Response: Sendable {
  /// One header line.
  public struct Header: Sendable {
    /// The field's name.
    public let name: StaticString
    /// The value: visible ASCII, no line breaks.
    public let value: String
  }

  /// The status code.
  public var status: UInt16
  /// The header lines besides those of the connection, the date and the length.
  public var headers: [Header]
  /// The body; not sent to HEAD.
  public var body: [UInt8]

  /// A response of `status` with a body of `contentType`, if any.
  public init(status: UInt16, contentType: StaticString? = nil, body: [UInt8] = []) {
    self.status = status
    self.body = body
    headers = []
    headers.reserveCapacity(6)
    if let contentType { add("Content-Type", "\(contentType)") }
  }

  /// Adds a header line.
  public mutating func add(_ name: StaticString, _ value: String) {
    headers.append(Header(name: name, value: value))
  }

  /// The first value of this header.
  public func header(_ name: StaticString) -> String? {
    headers.first { $0.name.description.lowercased() == name.description.lowercased() }?.value
  }

  /// Gives the response to libmicrohttpd; false where the connection takes none.
  func queue(on connection: OpaquePointer, closing: Bool) -> MHD_Result {
    let response = body.withUnsafeBytes { bytes in
      // The buffer is copied at once, so it may be handed over as mutable.
      MHD_create_response_from_buffer(
        bytes.count,
        UnsafeMutableRawPointer(mutating: bytes.baseAddress),
        .RESPMEM_MUST_COPY
      )
    }
    guard let response else { return .NO }
    defer { MHD_destroy_response(response) }
    for header in headers {
      let added = header.name.withUTF8Buffer { name in
        name.withMemoryRebound(to: CChar.self) { name in
          MHD_add_response_header(response, name.baseAddress, header.value)
        }
      }
      guard added == .YES else { return .NO }
    }
    if closing { MHD_add_response_header(response, "Connection", "close") }
    return MHD_queue_response(connection, UInt32(status), response)
  }
}
