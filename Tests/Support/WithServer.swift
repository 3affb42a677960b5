public import EventLoop
public import HTTP

/// A server of one test, on a loop of its own.
public struct TestHTTPServer: Sendable {
  /// The loop.
  public let loop: EventLoop
  /// The server.
  public let server: Server
  /// The port of 127.0.0.1, or of the host that was asked for.
  public let port: UInt16

  /// Runs `body` on the server's loop.
  public func onLoop<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await Task(executorPreference: loop) { try await body() }.value
  }

  /// A connection to the server.
  public func client() throws -> RawClient { try RawClient(port) }

  /// Whether no more connections are taken.
  public var isRefusing: Bool {
    do {
      _ = try client()
      return false
    } catch {
      return true
    }
  }

  /// The answer to one request on a connection of its own.
  public func answer(to request: String) throws -> RawResponse {
    var client = try client()
    client.send(request)
    return try client.response()
  }
}

/// Serves `handler` for the time of `body`, then drains.
public func withServer<Value>(
  host: String = "127.0.0.1",
  limits: Server.Limits = .init(),
  grace: Duration = .zero,
  handler: @escaping Server.Handler,
  _ body: (TestHTTPServer) async throws -> Value
) async throws -> Value {
  let loop = try EventLoop()
  let listener = try Listener(host: host, port: 0, count: 1)
  let server = Server(
    loop: loop,
    limits: limits,
    refuse: { _, refusal in
      switch refusal {
      case .targetTooLong: Response(status: 414)
      case .bodyTooLarge: Response(status: 413)
      case .unknownTransferCoding: Response(status: 501)
      case .ambiguousLength, .noSingleHost, .malformedHeader, .malformedTarget:
        Response(status: 400)
      }
    },
    handler: handler
  )
  let thread = try loop.start(name: "test-server")
  let service = TestHTTPServer(loop: loop, server: server, port: listener.port)
  let opened = try await service.onLoop {
    for socket in listener.sockets { try server.open(socket: socket) }
    return true
  }
  precondition(opened)
  let result: Result<Value, any Error>
  do { result = .success(try await body(service)) } catch { result = .failure(error) }
  try await service.onLoop { await server.drain(within: grace) }
  loop.stop()
  thread.join()
  return try result.get()
}
