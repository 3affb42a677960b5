public import EventLoop
import Glibc

/// Sockets that listen on one address: several, which the kernel spreads connections over.
public struct Listener: Sendable {
  /// The address as given: a numeric IPv4 or IPv6 address or a name.
  public let host: String
  /// The port; where 0 was asked for, the one the kernel chose.
  public let port: UInt16
  /// The listening sockets, non-blocking.
  public let sockets: [Int32]

  /// How many connections may wait to be accepted, on each socket.
  public static let backlog: Int32 = 1024

  /// Listens on `host` and `port` with `count` sockets.
  public init(host: String, port: UInt16, count: Int) throws(SystemError) {
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &found) == 0, let found else {
      throw SystemError(call: "resolve \(host)", code: EADDRNOTAVAIL)
    }
    defer { freeaddrinfo(found) }
    var storage = sockaddr_storage()
    memcpy(&storage, found.pointee.ai_addr, Int(found.pointee.ai_addrlen))
    let length = found.pointee.ai_addrlen
    var sockets: [Int32] = []
    do {
      // A port that sockets share could be shared with another process too; a socket that
      // doesn't share finds that out.
      close(try Self.open(&storage, length, sharing: false))
      // The first bind fixes the port that the others share.
      for _ in 0..<count {
        let socket = try Self.open(&storage, length, sharing: true)
        sockets.append(socket)
        var bound = length
        withUnsafeMutableBytes(of: &storage) { bytes in
          _ = getsockname(
            socket,
            bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
            &bound
          )
        }
      }
      // Listening begins when all are bound: a taken port is found before any connection comes.
      for socket in sockets {
        _ = try SystemError.check(listen(socket, Self.backlog), "listen")
      }
    } catch {
      for socket in sockets { close(socket) }
      throw error
    }
    self.host = host
    self.port = Self.port(of: storage)
    self.sockets = sockets
  }

  private static func open(
    _ storage: inout sockaddr_storage,
    _ length: socklen_t,
    sharing: Bool
  ) throws(SystemError) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let socket = try SystemError.check(
      Glibc.socket(Int32(storage.ss_family), type, 0),
      "socket"
    )
    var on: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    if sharing {
      setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &on, socklen_t(MemoryLayout<Int32>.size))
    }
    let bound = withUnsafeBytes(of: &storage) { bytes in
      bind(socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
    }
    guard bound == 0 else {
      let code = errno
      close(socket)
      throw SystemError(call: "bind", code: code)
    }
    return socket
  }

  private static func port(of storage: sockaddr_storage) -> UInt16 {
    withUnsafeBytes(of: storage) { bytes in
      // Both address families keep the port in the two bytes after the family.
      UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
  }
}
