import CPostgres
import Clocks
public import EventLoop

/// One connection of an event loop to PostgreSQL, in pipeline mode.
///
/// Any number of exchanges may be under way; each is a transaction of its own, and answers come
/// in the order of sending. A connection that breaks is made again by itself, with growing
/// pauses; meanwhile every exchange fails at once with `unavailable`.
public final class Connection: Sendable {
  /// How a connection is made and what it keeps to.
  public struct Configuration: Sendable {
    /// A libpq connection string or URI; several hosts allowed.
    public var target: String
    /// Shown in `pg_stat_activity`.
    public var applicationName: String
    /// Run after connecting, before anything else.
    public var setup: [String]
    /// Prepared after the set-up; an exchange may name no other, but for the unprepared.
    public var statements: [Statement]
    /// How many exchanges may be under way.
    public var exchangeLimit = 1024
    /// After this time without any answer, while one is due, the connection counts as lost.
    public var answerTimeout = Duration.seconds(30)
    /// After this time without success an attempt to connect is given up.
    public var connectTimeout = Duration.seconds(10)
    /// Called on the loop with what is said on a channel that the set-up listens to.
    public var notified: (@Sendable (_ payload: String) -> Void)?

    /// A configuration with the usual limits.
    public init(
      target: String,
      applicationName: String,
      setup: [String],
      statements: [Statement]
    ) {
      self.target = target
      self.applicationName = applicationName
      self.setup = setup
      self.statements = statements
    }
  }

  /// What became of one exchange: the rows of each statement, or why there are none.
  public typealias Outcome = Result<[Rows], PostgresError>

  enum Phase {
    case idle
    case connecting
    case settingUp
    case ready
    case closed
  }

  struct Exchange {
    var rows: [Rows] = []
    var error: PostgresError?
    let sentAt: Instant
    let completion: (Outcome) -> Void
  }

  struct State {
    var phase = Phase.idle {
      didSet {
        if (phase == .ready) != (oldValue == .ready) { readiness.change(to: phase == .ready) }
      }
    }
    let readiness: Readiness
    var handle: OpaquePointer?
    var watched: Int32 = -1
    var wantsWrite = false
    var exchanges = FIFO<Exchange>()
    var lastResult = Instant.now()
    var failures = 0
    var connectDeadline = Instant.now()
    var lastError: String?
  }

  private let loop: EventLoop
  private let configuration: Configuration
  private let state: LoopBound<State>
  private let report: @Sendable (String) -> Void

  /// A connection not yet made, which `readiness` counts from now on; `report` is told, for the
  /// log, why one could not be made.
  public init(
    loop: EventLoop,
    configuration: Configuration,
    readiness: Readiness = Readiness(),
    report: @escaping @Sendable (String) -> Void
  ) {
    self.loop = loop
    self.configuration = configuration
    self.report = report
    readiness.expectOne()
    state = LoopBound(State(readiness: readiness), on: loop)
  }

  /// Whether exchanges are taken.
  public var isReady: Bool { state.value.phase == .ready }

  /// How many exchanges wait for their answer.
  public var pending: Int { state.value.exchanges.count }

  /// Begins to connect, and keeps connected until `close`.
  public func open() {
    guard state.value.phase == .idle else { return }
    connect()
    watchDeadlines()
  }

  /// Ends the connection; exchanges under way fail.
  public func close() {
    drop(because: .connectionLost)
    state.value.phase = .closed
  }

  /// Runs `statement` as one transaction.
  public func run(
    _ statement: Statement,
    _ parameters: Parameters
  ) async throws(PostgresError) -> Rows {
    let rows = try await transaction([(statement, parameters)])
    return rows[0]
  }

  /// Runs the steps in order as one transaction, sent in one piece; the rows of each step.
  ///
  /// A step that is refused rolls all of them back.
  public func transaction(
    _ steps: [(Statement, Parameters)]
  ) async throws(PostgresError) -> [Rows] {
    let outcome: Outcome = await withCheckedContinuation { continuation in
      send(steps) { continuation.resume(returning: $0) }
    }
    return try outcome.get()
  }

  /// As `transaction`, with a function that is called on the loop instead of a task that waits.
  public func send(
    _ steps: [(Statement, Parameters)],
    _ completion: @escaping (Outcome) -> Void
  ) {
    guard state.value.phase == .ready, let handle = state.value.handle,
      state.value.exchanges.count < configuration.exchangeLimit
    else {
      completion(.failure(.unavailable))
      return
    }
    expect(completion)
    for (statement, parameters) in steps {
      let count = Int32(parameters.count)
      _ = parameters.withPointers { values, lengths, formats in
        statement.name.isEmpty
          ? PQsendQueryParams(handle, statement.sql, count, nil, values, lengths, formats, 1)
          : PQsendQueryPrepared(handle, statement.name, count, values, lengths, formats, 1)
      }
    }
    finishSending(handle)
  }

  // MARK: Connecting

  private func connect() {
    state.value.phase = .connecting
    state.value.lastError = nil
    state.value.connectDeadline = Instant.now() + configuration.connectTimeout
    let settings = [
      ("dbname", configuration.target), ("application_name", configuration.applicationName),
      ("client_encoding", "UTF8"),
    ]
    let handle = withCStrings(settings.map(\.0)) { keys in
      withCStrings(settings.map(\.1)) { values in PQconnectStartParams(keys, values, 1) }
    }
    state.value.handle = handle
    if handle == nil || PQstatus(handle) == CONNECTION_BAD { return failToConnect() }
    watchSocket(for: .write) { [self] _ in pollConnecting() }
  }

  private func pollConnecting() {
    guard state.value.phase == .connecting else { return }
    let status = PQconnectPoll(state.value.handle)
    // The socket may have been replaced, under the same number too, so it is watched anew.
    unwatchSocket()
    switch status {
    case PGRES_POLLING_READING: watchSocket(for: .read) { [self] _ in pollConnecting() }
    case PGRES_POLLING_WRITING: watchSocket(for: .write) { [self] _ in pollConnecting() }
    case PGRES_POLLING_OK: setUp()
    default: failToConnect()
    }
  }

  private func setUp() {
    guard let handle = state.value.handle else { return }
    state.value.phase = .settingUp
    PQsetnonblocking(handle, 1)
    PQenterPipelineMode(handle)
    watchSocket(for: .read) { [self] ready in exchange(ready) }
    expect { [self] outcome in
      switch outcome {
      case .success:
        state.value.phase = .ready
        state.value.failures = 0
        state.value.lastError = nil
      case .failure(let error):
        state.value.lastError = error.description
        if state.value.handle != nil { failToConnect() }
      }
    }
    for sql in configuration.setup {
      PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1)
    }
    for statement in configuration.statements {
      PQsendPrepare(handle, statement.name, statement.sql, 0, nil)
    }
    finishSending(handle)
  }

  private func failToConnect() {
    let message =
      state.value.lastError
      ?? state.value.handle.map { String(cString: PQerrorMessage($0)) } ?? "out of memory"
    report(message.split(whereSeparator: \.isNewline).joined(separator: "; "))
    drop(because: .unavailable)
  }

  /// Fails what is under way, and connects again after a pause that grows with each failure.
  private func drop(because error: PostgresError) {
    unwatchSocket()
    if let handle = state.value.handle { PQfinish(handle) }
    state.value.handle = nil
    guard state.value.phase != .closed else { return }
    state.value.phase = .idle
    let pause = Duration.milliseconds(min(2_000, 25 << min(state.value.failures, 7)))
    state.value.failures += 1
    loop.schedule(after: pause) { [self] in
      if state.value.phase == .idle { connect() }
    }
    while let exchange = state.value.exchanges.popFirst() {
      exchange.completion(.failure(error))
    }
  }

  private func watchDeadlines() {
    loop.schedule(after: .seconds(1)) { [self] in
      let now = Instant.now()
      switch state.value.phase {
      case .closed: return
      case .connecting where state.value.connectDeadline < now:
        state.value.lastError = "no answer within \(configuration.connectTimeout)"
        failToConnect()
      case .settingUp, .ready:
        // Where many wait in line, each answer shows that the other side lives.
        if let oldest = state.value.exchanges.first,
          max(oldest.sentAt, state.value.lastResult) + configuration.answerTimeout < now
        {
          report("no answer within \(configuration.answerTimeout)")
          drop(because: .connectionLost)
        }
      case .idle, .connecting: break
      }
      watchDeadlines()
    }
  }

  // MARK: Exchanging

  private func expect(_ completion: @escaping (Outcome) -> Void) {
    state.value.exchanges.append(Exchange(sentAt: loop.now, completion: completion))
  }

  private func finishSending(_ handle: OpaquePointer) {
    PQpipelineSync(handle)
    flush(handle)
  }

  private func flush(_ handle: OpaquePointer) {
    let unsent = PQflush(handle) == 1
    // Where a write fails libpq reads what is left to read, and closes the socket at its end: no
    // event would tell of that.
    guard PQstatus(handle) != CONNECTION_BAD else { return take(handle) }
    guard unsent != state.value.wantsWrite else { return }
    state.value.wantsWrite = unsent
    loop.change(state.value.watched, to: unsent ? [.read, .write] : .read)
  }

  private func exchange(_ ready: Interest) {
    guard let handle = state.value.handle else { return }
    if ready.contains(.write) { flush(handle) }
    guard ready.contains(.read), state.value.handle == handle else { return }
    take(handle, isAlive: PQconsumeInput(handle) == 1)
  }

  /// Takes the results that have come, and drops the connection where it is lost.
  private func take(_ handle: OpaquePointer, isAlive: Bool = false) {
    takeResults(handle)
    if let notified = configuration.notified, state.value.handle == handle {
      takeNotifications(handle, notified)
    }
    // A result may have been the reason to drop it already.
    guard state.value.handle == handle, !isAlive || PQstatus(handle) == CONNECTION_BAD
    else { return }
    report("connection lost: \(String(cString: PQerrorMessage(handle)).prefix(200))")
    drop(because: .connectionLost)
  }

  private func takeResults(_ handle: OpaquePointer) {
    while state.value.handle == handle, !state.value.exchanges.isEmpty, PQisBusy(handle) == 0 {
      // A nil ends one statement's results; the next call gives the next statement's.
      guard let result = PQgetResult(handle) else {
        if PQstatus(handle) == CONNECTION_BAD { return }
        continue
      }
      state.value.lastResult = loop.now
      switch PQresultStatus(result) {
      case PGRES_PIPELINE_SYNC:
        PQclear(result)
        finishExchange()
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
        state.value.exchanges.updateFirst { $0.rows.append(Rows(owning: result)) }
      case PGRES_PIPELINE_ABORTED:
        PQclear(result)
      default:
        note(PostgresError.Refusal(result: result))
        PQclear(result)
      }
    }
  }

  private func takeNotifications(
    _ handle: OpaquePointer,
    _ notified: @Sendable (String) -> Void
  ) {
    while let notification = PQnotifies(handle) {
      let payload = String(cString: notification.pointee.extra)
      PQfreemem(notification)
      notified(payload)
    }
  }

  private func note(_ refusal: PostgresError.Refusal) {
    if refusal.endsConnection {
      report(PostgresError.refused(refusal).description)
      // What was said may have come after a commit, so the outcome is unknown.
      drop(because: .connectionLost)
      return
    }
    state.value.exchanges.updateFirst { exchange in
      if exchange.error == nil { exchange.error = .refused(refusal) }
    }
  }

  private func finishExchange() {
    guard let exchange = state.value.exchanges.popFirst() else { return }
    if let error = exchange.error {
      exchange.completion(.failure(error))
    } else {
      exchange.completion(.success(exchange.rows))
    }
  }

  // MARK: The socket

  private func watchSocket(for interest: Interest, _ handler: @escaping (Interest) -> Void) {
    let socket = PQsocket(state.value.handle)
    guard socket >= 0 else { return failToConnect() }
    do {
      try loop.watch(socket, for: interest, handler)
      state.value.watched = socket
      state.value.wantsWrite = false
    } catch {
      state.value.lastError = error.description
      failToConnect()
    }
  }

  private func unwatchSocket() {
    guard state.value.watched >= 0 else { return }
    loop.unwatch(state.value.watched)
    state.value.watched = -1
  }
}
