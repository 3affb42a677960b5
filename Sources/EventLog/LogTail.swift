import Clocks
public import EventLoop
public import Postgres
import Synchronization

/// Knows how far the log has come, and wakes those who wait for more; a process has one.
///
/// A connection listens to what `append_events` says, which makes it quick; another looks at the
/// log now and then while anybody waits, which makes it correct, whatever becomes of the first.
/// What is said is only a reason to look: anybody may speak on the channel.
public final class LogTail: Sendable {
  /// The longest time between a commit and the waking, whatever was said of it.
  public static let pollInterval = Duration.milliseconds(500)
  /// Connections that it opens.
  public static let connectionCount = 2
  /// A look that isn't answered in this time is given up, with its connection.
  private static let answerTimeout = Duration.seconds(1)
  /// The listening connection is asked whether it lives once in this many looks.
  private static let looksBetweenProbes = 20

  /// A place in the line of those who wait.
  public struct Ticket: Sendable {
    fileprivate let number: UInt64
  }

  private struct Waiting {
    let position: Position
    let wake: @Sendable () -> Void
  }

  private struct State {
    var head = Position.start
    /// Whether the log may have gone on since the last look.
    var isStale = true
    /// Whether anybody has asked since the last look that was due.
    var isWanted = false
    var next: UInt64 = 0
    var waiting: [UInt64: Waiting] = [:]
  }

  private let loop: EventLoop
  private let listener: Connection
  private let reader: Connection
  private let state = Mutex(State())
  private let isClosed: LoopBound<Bool>

  /// The tail of the log at `configuration`, on `loop`; `open` connects.
  ///
  /// The configuration's statements are replaced. `report` is told, for the log, why a connection
  /// could not be made or was lost.
  public init(
    loop: EventLoop,
    configuration: Connection.Configuration,
    report: @escaping @Sendable (String) -> Void
  ) {
    self.loop = loop
    isClosed = LoopBound(false, on: loop)
    var reading = configuration
    reading.statements = [LogPage.headStatement]
    reading.answerTimeout = Self.answerTimeout
    reader = Connection(loop: loop, configuration: reading, report: report)
    let relay = Relay()
    var listening = configuration
    listening.applicationName += " listener"
    listening.statements = [LogPage.headStatement]
    // Where the other side has vanished, what is said may not wait for it in the server for ever.
    listening.setup += ["set tcp_user_timeout = '30s'", Self.listen]
    listening.notified = { _ in relay.tail?.noted() }
    listener = Connection(loop: loop, configuration: listening, report: report)
    relay.tail = self
  }

  /// Leads from the connection to the tail, which owns it.
  ///
  /// `@unchecked Sendable`: it is set before the connection is opened, and only read afterwards.
  private final class Relay: @unchecked Sendable {
    weak var tail: LogTail?
  }

  /// Makes a session hear what `append_events` says.
  public static let listen = """
    do $$ begin
      execute format('listen %I', ('jejak ' || current_schema())::name);
    end $$
    """

  /// Begins to listen and to look; from any thread.
  public func open() {
    loop.execute { [self] in
      listener.open()
      reader.open()
      look(1)
    }
  }

  /// Ends both; from any thread.
  public func close() {
    loop.execute { [self] in
      isClosed.value = true
      listener.close()
      reader.close()
    }
  }

  /// The last position that is known of; the log may have come further since, and it may have been
  /// put back to an earlier state.
  public var head: Position { state.withLock { $0.head } }

  /// Calls `wake` once, on some loop, as soon as the log is known to go on after `position`; from
  /// any thread.
  public func whenPast(_ position: Position, _ wake: @escaping @Sendable () -> Void) -> Ticket {
    let (ticket, isPast, isStale) = state.withLock { state in
      state.next += 1
      state.isWanted = true
      let isPast = state.head > position
      if !isPast { state.waiting[state.next] = Waiting(position: position, wake: wake) }
      return (Ticket(number: state.next), isPast, state.isStale)
    }
    if isPast {
      wake()
    } else if isStale {
      loop.execute { [self] in readHead() }
    }
    return ticket
  }

  /// Leaves the line; no more is called, but for a call that is under way.
  public func cancel(_ ticket: Ticket) {
    state.withLock { _ = $0.waiting.removeValue(forKey: ticket.number) }
  }

  private func noted() {
    let isAwaited = state.withLock { state in
      state.isStale = true
      return !state.waiting.isEmpty
    }
    if isAwaited { readHead() }
  }

  private func look(_ number: Int) {
    guard !isClosed.value else { return }
    let isDue = state.withLock { state in
      defer { state.isWanted = false }
      return state.isWanted || !state.waiting.isEmpty
    }
    if isDue { readHead() }
    if number % Self.looksBetweenProbes == 0, listener.isReady {
      listener.send([(LogPage.headStatement, Parameters())]) { _ in }
    }
    loop.schedule(after: Self.pollInterval) { [self] in look(number + 1) }
  }

  /// Looks at the log; where the last look isn't answered yet, the next follows it.
  private func readHead() {
    guard reader.isReady, reader.pending == 0 else {
      state.withLock { $0.isStale = true }
      return
    }
    state.withLock { $0.isStale = false }
    reader.send([(LogPage.headStatement, Parameters())]) { [self] outcome in
      guard case .success(let results) = outcome else {
        state.withLock { $0.isStale = true }
        return
      }
      found(Position(results[0].integer(0, 0)))
      if state.withLock({ $0.isStale && !$0.waiting.isEmpty }) { readHead() }
    }
  }

  private func found(_ head: Position) {
    let woken = state.withLock { state -> [Waiting] in
      let hasGoneOn = head > state.head
      state.head = head
      guard hasGoneOn else { return [] }
      let due = state.waiting.filter { $0.value.position < head }
      for number in due.keys { state.waiting[number] = nil }
      return Array(due.values)
    }
    for waiting in woken { waiting.wake() }
  }
}
