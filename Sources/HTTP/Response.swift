import CMicroHTTPD

/// What is answered: a status, headers, and a body, ready-made or streamed.
public struct Response: Sendable {
  /// One header line.
  public struct Header: Sendable {
    /// The field's name.
    public let name: StaticString
    /// The value: visible ASCII, no line breaks.
    public let value: String
  }

  /// Writes a body of any length, as a task on the connection's loop.
  ///
  /// When it returns, the body is complete; when it throws, the connection is cut, so that no
  /// client takes a part for the whole. It isn't called for HEAD.
  public typealias Producer = @Sendable (BodyWriter) async throws -> Void

  /// The status code.
  public var status: UInt16
  /// The header lines besides those of the connection, the date and the length.
  public var headers: [Header]
  /// The body; not sent to HEAD.
  public var body: [UInt8]
  /// What writes the body in place of `body`.
  public var stream: Producer?

  /// A response of `status` with a body of `contentType`, if any.
  public init(status: UInt16, contentType: StaticString? = nil, body: [UInt8] = []) {
    self.status = status
    self.body = body
    headers = []
    headers.reserveCapacity(6)
    if let contentType { add("Content-Type", "\(contentType)") }
  }

  /// A response of `status` whose body of `contentType` is written by `stream`.
  public init(status: UInt16, contentType: StaticString, stream: @escaping Producer) {
    self.init(status: status, contentType: contentType)
    self.stream = stream
  }

  /// Adds a header line.
  public mutating func add(_ name: StaticString, _ value: String) {
    headers.append(Header(name: name, value: value))
  }

  /// The first value of this header.
  public func header(_ name: StaticString) -> String? {
    headers.first { $0.name.description.lowercased() == name.description.lowercased() }?.value
  }

  /// Gives the response to libmicrohttpd, its body by `writer` where it is streamed; false where the
  /// connection takes none.
  func queue(
    on connection: OpaquePointer,
    closing: Bool,
    writer: BodyWriter? = nil,
    toHead: Bool = false
  ) -> MHD_Result {
    let made = if let writer { writer.makeResponse(toHead: toHead) } else { makeResponse() }
    guard let response = made else { return .NO }
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

  private func makeResponse() -> OpaquePointer? {
    body.withUnsafeBytes { bytes in
      // The buffer is copied at once, so it may be handed over as mutable.
      MHD_create_response_from_buffer(
        bytes.count,
        UnsafeMutableRawPointer(mutating: bytes.baseAddress),
        .RESPMEM_MUST_COPY
      )
    }
  }
}
