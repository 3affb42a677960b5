import CMicroHTTPD
import Clocks
public import EventLoop
import Glibc

/// HTTP/1.1 on one listening socket and one event loop.
///
/// libmicrohttpd speaks the protocol in its external epoll mode: its epoll descriptor is nested
/// in the loop's, and it is run when that fires. A request waits, suspended, while its handler's
/// task waits; the task runs on the same thread.
public final class Server: Sendable {
  /// The bounds of a server.
  public struct Limits: Sendable {
    /// Bytes of a request's target, path and query; more is answered 414.
    public var target = 8192
    /// Bytes of a request's body; more is answered 413.
    public var body = 65_536
    /// Bytes of too large a body that are read and thrown away, so that the client, which is
    /// still sending, can read the 413.
    public var discarded = 8 << 20
    /// Bytes of memory of a connection; a header that doesn't fit is answered 431.
    public var connectionMemory = 16_384
    /// Connections at a time.
    public var connections: UInt32 = 20_000
    /// Seconds without traffic after which a connection is closed.
    public var idleSeconds: UInt32 = 60

    /// The usual bounds.
    public init() {}
  }

  /// Why a request is refused before its handler sees it.
  public enum Refusal: Sendable {
    /// Its target holds a NUL.
    case malformedTarget
    /// Its target is over the limit.
    case targetTooLong
    /// Its body is over the limit.
    case bodyTooLarge
    /// Its body comes in a transfer coding that isn't understood, so it has no end.
    case unknownTransferCoding
    /// It tells two lengths, or a length and a transfer coding: whoever stands between may see
    /// another end of it (request smuggling, RFC 9112 section 11.2).
    case ambiguousLength
    /// A header's name is no token, its value holds a control character or is folded, or there are two
    /// Authorization lines, of which only one could count.
    case malformedHeader
    /// It has no Host header, or more than one (RFC 9112 section 3.2).
    case noSingleHost
  }

  /// Answers a request.
  public typealias Handler = @Sendable (Request) async -> Response

  struct State {
    var daemon: OpaquePointer?
    /// Handlers and producers of bodies that haven't ended.
    var handling = 0
    /// Bodies that are being sent.
    var streams: [ObjectIdentifier: BodyWriter] = [:]
    var cutsStreams = false
    var runSoon = false
    var draining = false
    var lastAnswer = Instant.now()
  }

  let loop: EventLoop
  let limits: Limits
  private let handler: Handler
  private let refuse: @Sendable (Request, Refusal) -> Response
  let state: LoopBound<State>

  /// A server for `loop`; `refuse` makes the answers to what is over a limit.
  public init(
    loop: EventLoop,
    limits: Limits = .init(),
    refuse: @escaping @Sendable (Request, Refusal) -> Response,
    handler: @escaping Handler
  ) {
    self.loop = loop
    self.limits = limits
    self.refuse = refuse
    self.handler = handler
    state = LoopBound(State(), on: loop)
  }

  /// Begins to serve `socket`, which it owns from now on; called on the loop.
  public func open(socket: Int32) throws(SystemError) {
    let daemon = jejak_start_daemon(
      socket,
      { context, connection, _, method, version, upload, uploadSize, request in
        guard let request = request?.pointee, let connection, let method, let version,
          let uploadSize
        else { return .NO }
        return Server.from(context).access(
          Unmanaged<Request>.fromOpaque(request).takeUnretainedValue(),
          connection,
          method,
          version,
          upload,
          uploadSize
        )
      },
      { _, uri, connection in
        guard let uri, let connection else { return nil }
        let request = Request(target: String(cString: uri), connection: connection)
        request.targetEnd = uri + strlen(uri)
        jejak_cut_query(uri)
        return Unmanaged.passRetained(request).toOpaque()
      },
      { context, _, request, _ in
        guard let request = request?.pointee else { return }
        Server.from(context).complete(Unmanaged<Request>.fromOpaque(request).takeRetainedValue())
      },
      Unmanaged.passUnretained(self).toOpaque(),
      limits.connectionMemory,
      limits.connections,
      limits.idleSeconds
    )
    guard let daemon else { throw SystemError(call: "MHD_start_daemon", code: errno) }
    state.value.daemon = daemon
    try loop.watch(jejak_daemon_epoll(daemon), for: .read) { [self] _ in run() }
    loop.atEndOfTurn { [self] in
      if state.value.runSoon { run() }
    }
    sweep()
  }

  /// Stops accepting, answers what has come, and ends within `grace`; called on the loop.
  ///
  /// Answers given meanwhile close their connections. A connection on which nothing is under way
  /// is given half a second in which a request may still arrive. Bodies that are still being
  /// written when the grace is over are cut.
  public func drain(within grace: Duration) async {
    guard let daemon = state.value.daemon else { return }
    state.value.draining = true
    let deadline = Instant.now() + grace
    for stream in state.value.streams.values { stream.drain() }
    run()
    let listener = MHD_quiesce_daemon(daemon)
    if listener >= 0 { close(listener) }
    state.value.lastAnswer = Instant.now()
    while Instant.now() < deadline, jejak_daemon_connections(daemon) > 0 {
      let quiet = Instant.now() - state.value.lastAnswer > .milliseconds(500)
      if state.value.handling == 0 && state.value.streams.isEmpty && quiet { break }
      await loop.sleep(for: .milliseconds(5))
    }
    cutStreams()
    // libmicrohttpd refuses to stop while requests are suspended; their tasks end by themselves.
    while state.value.handling > 0 { await loop.sleep(for: .milliseconds(5)) }
    loop.unwatch(jejak_daemon_epoll(daemon))
    state.value.daemon = nil
    MHD_stop_daemon(daemon)
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> Server {
    // The context is the server that started the daemon, which outlives it.
    Unmanaged<Server>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
  }

  // MARK: Running the daemon

  private func run() {
    guard let daemon = state.value.daemon else { return }
    state.value.runSoon = false
    MHD_run(daemon)
    // Connections that are ready without an event of epoll make the timeout zero.
    var milliseconds: UInt64 = 0
    if MHD_get_timeout(daemon, &milliseconds) == .YES && milliseconds == 0 {
      loop.schedule(after: .zero) { [self] in state.value.runSoon = true }
    }
  }

  /// Closes idle connections, whose time is noticed only when the daemon runs.
  private func sweep() {
    loop.schedule(after: .seconds(1)) { [self] in
      guard state.value.daemon != nil else { return }
      run()
      sweep()
    }
  }

  // MARK: Requests

  /// Called by libmicrohttpd when the header is there, for each piece of the body, at its end, and
  /// again when the connection is resumed.
  private func access(
    _ request: Request,
    _ connection: OpaquePointer,
    _ method: UnsafePointer<CChar>,
    _ version: UnsafePointer<CChar>,
    _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>
  ) -> MHD_Result {
    switch request.phase {
    case .header:
      request.method = String(cString: method)
      request.phase = .body
      // HTTP/1.0 knows neither transfer codings nor the need of a Host.
      let isCurrent = strcmp(version, "HTTP/1.1") == 0
      defer { request.targetEnd = nil }
      if let end = request.targetEnd, version.pointee != 0, jejak_is_separator(end, version, 1) == 0
      {
        return answer(request, with: refuse(request, .malformedTarget), closing: true)
      }
      guard let refusal = refusal(of: request, isCurrent) else { return .YES }
      return answer(request, with: refuse(request, refusal), closing: true)
    case .body where uploadSize.pointee > 0:
      return take(request, UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)) {
        uploadSize.pointee = 0
      }
    case .body:
      guard request.received <= limits.body else {
        return answer(request, with: refuse(request, .bodyTooLarge), closing: false)
      }
      handle(request)
      MHD_suspend_connection(connection)
      return .YES
    case .handling:
      // The response is set before the connection is resumed.
      guard let response = request.response else { return .NO }
      return answer(request, with: response, closing: false)
    case .answered:
      return .YES
    }
  }

  /// Why the request is refused before its body is read.
  private func refusal(of request: Request, _ isCurrent: Bool) -> Refusal? {
    if request.target.utf8.count > limits.target { return .targetTooLong }
    let framing = jejak_framing_of(request.connection)
    if framing.malformed > 0 || framing.credentials > 1 { return .malformedHeader }
    if framing.codings > 0 && !isCurrent { return .unknownTransferCoding }
    if framing.hosts > 1 || isCurrent && framing.hosts == 0 { return .noSingleHost }
    if framing.lengths + framing.codings > 1 { return .ambiguousLength }
    guard framing.lengths + framing.codings > 0 else { return nil }
    if let coding = request.header("Transfer-Encoding"), coding.lowercased() != "chunked" {
      return .unknownTransferCoding
    }
    let announced = request.header("Content-Length").flatMap { Int($0) } ?? 0
    let waits = request.headerBytes("Expect") != nil
    let isRefused = announced > limits.body && (waits || announced > limits.discarded)
    return isRefused ? .bodyTooLarge : nil
  }

  private func take(
    _ request: Request,
    _ bytes: UnsafeRawBufferPointer,
    _ taken: () -> Void
  ) -> MHD_Result {
    request.received += bytes.count
    guard request.received <= limits.discarded else { return .NO }
    if request.received <= limits.body { request.body.append(contentsOf: bytes) }
    taken()
    return .YES
  }

  private func handle(_ request: Request) {
    request.phase = .handling
    state.value.handling += 1
    Task(executorPreference: loop) { [self] in
      request.response = await handler(request)
      MHD_resume_connection(request.connection)
      state.value.runSoon = true
    }
  }

  private func answer(
    _ request: Request,
    with response: Response,
    closing: Bool
  ) -> MHD_Result {
    if request.phase == .handling { state.value.handling -= 1 }
    request.phase = .answered
    state.value.lastAnswer = loop.now
    let isClosing = closing || state.value.draining
    if let producer = response.stream {
      return stream(request, response, closing: isClosing, from: producer)
    }
    return response.queue(on: request.connection, closing: isClosing)
  }

  private func complete(_ request: Request) {
    // A connection may be closed after it was resumed and before it could be answered.
    if request.phase == .handling { state.value.handling -= 1 }
    request.phase = .answered
    if let writer = request.writer { endStream(writer) }
  }
}
