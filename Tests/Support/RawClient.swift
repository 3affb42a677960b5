import Foundation

/// An HTTP client that sends exactly what it is told, and blocks; for 20 seconds at most.
public struct RawClient: ~Copyable {
  private let socket: Int32
  private var buffer: [UInt8] = []
  /// Whether the connection was found to be cut, not ended.
  public private(set) var wasReset = false

  /// Connects to `host`, a numeric address, and `port`.
  public init(_ port: UInt16, host: String = "127.0.0.1") throws {
    socket = try Self.connect(host, port)
  }

  deinit { close(socket) }

  /// Sends bytes as they are; the rest is lost where the server has closed.
  public func send(_ bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sent += count
    }
  }

  /// Sends `text`, whose line breaks become CR LF.
  public func send(_ text: String) {
    send(text.replacing("\n", with: "\r\n").utf8)
  }

  /// Closes the connection with a reset.
  public consuming func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
  }

  /// Whether the server has ended the connection; waits for the end or for a byte.
  public mutating func isEnded() throws -> Bool {
    try buffer.isEmpty && !receive()
  }

  /// Reads one response; one to HEAD has a length and no body.
  public mutating func response(toHead: Bool = false) throws -> RawResponse {
    var head: [UInt8]?
    while head == nil {
      if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
        head = Array(buffer[..<end.lowerBound])
        buffer.removeFirst(end.upperBound)
      } else if try !receive() {
        throw POSIXError(.ECONNRESET)
      }
    }
    var response = RawResponse(head: String(decoding: head ?? [], as: UTF8.self))
    let length = response["Content-Length"].flatMap { Int($0) } ?? 0
    guard !toHead else { return response }
    while buffer.count < length {
      guard try receive() else { throw POSIXError(.ECONNRESET) }
    }
    response.body = String(decoding: buffer.prefix(length), as: UTF8.self)
    buffer.removeFirst(length)
    return response
  }

  /// Reads what has come since, as it is; empty at the end of the connection.
  public mutating func bytes() throws -> [UInt8] {
    if buffer.isEmpty { _ = try receive() }
    defer { buffer = [] }
    return buffer
  }

  /// Reads the next chunk of a chunked body; nil after the last.
  public mutating func chunk() throws -> [UInt8]? {
    while true {
      if let line = buffer.firstRange(of: [13, 10]),
        let count = Int(String(decoding: buffer[..<line.lowerBound], as: UTF8.self), radix: 16),
        buffer.count >= line.upperBound + count + 2
      {
        let chunk = Array(buffer[line.upperBound..<line.upperBound + count])
        buffer.removeFirst(line.upperBound + count + 2)
        return chunk.isEmpty ? nil : chunk
      }
      guard try receive() else { throw POSIXError(.ECONNRESET) }
    }
  }

  /// The rest of a chunked body.
  public mutating func chunks() throws -> [UInt8] {
    var body: [UInt8] = []
    while let chunk = try chunk() { body += chunk }
    return body
  }

  private static func connect(_ host: String, _ port: UInt16) throws -> Int32 {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &found) == 0, let address = found else {
      throw POSIXError(.EADDRNOTAVAIL)
    }
    defer { freeaddrinfo(found) }
    let socket = Glibc.socket(address.pointee.ai_family, Int32(SOCK_STREAM.rawValue), 0)
    var patience = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(
      socket,
      SOL_SOCKET,
      SO_RCVTIMEO,
      &patience,
      socklen_t(MemoryLayout<timeval>.size)
    )
    guard Glibc.connect(socket, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else {
      let code = POSIXErrorCode(rawValue: errno) ?? .EIO
      close(socket)
      throw POSIXError(code)
    }
    return socket
  }

  /// Reads what has come; false at the end of the connection.
  private mutating func receive() throws -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = recv(socket, &chunk, chunk.count, 0)
    if count < 0 && errno == ECONNRESET { wasReset = true }
    if count < 0 && errno == EAGAIN { throw NeverHappened() }
    buffer += chunk.prefix(max(0, count))
    return count > 0
  }
}

/// A response as it came.
public struct RawResponse: Sendable {
  /// The status code.
  public let status: Int
  /// The header lines.
  public let headers: [(name: String, value: String)]
  /// The body as text.
  public internal(set) var body = ""

  init(head: String) {
    let lines = head.split(separator: "\r\n")
    status = lines.first.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
    headers = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
    }
  }

  /// The first header of this name, in any case.
  public subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}
