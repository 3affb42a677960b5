import Accounts
import Clocks
import EventLog
import EventLoop
import HTTP

/// The change feed of one client: pages of the log as fast as it reads them, then what comes.
struct Feed: Sendable {
  /// Open feeds of one loop at a time.
  static let limit = 256
  /// Without an event for so long a heartbeat is sent.
  static let heartbeatInterval = Duration.seconds(15)
  /// How long a feed may go on after its key was revoked or has expired.
  static let keyCheckInterval = Duration.seconds(5)
  /// Between two looks of one feed at the end of the log: a busy log gives larger pages, not more.
  private static let gathering = Duration.milliseconds(50)
  /// Looks in a row that find nothing double the pause before the next, so many times at most.
  private static let doublingLimit = 3
  /// Bytes that are written at a time.
  private static let pieceSize = 64 * 1024
  /// Between two looks for a database that is lost.
  private static let retryPause = Duration.milliseconds(500)

  let accounts: Accounts
  let loop: EventLoop
  let tail: LogTail
  let key: KeyID
  let selection: LogPage.Selection
  let format: FeedFormat
  /// The events after this position are sent.
  let start: Position
  /// The last one to send; nil: it follows the log.
  let last: Position?

  /// Where a feed stands.
  private struct Progress {
    var position: Position
    /// Looks in a row that found nothing though the log was said to go on.
    var fruitless = 0
    var lastRead = Instant.now()
    var lastWrite = Instant.now()
    var lastCheck = Instant.now()
  }

  /// What follows on a step.
  private enum Step {
    case another
    case rest
    case pause
    case end
  }

  /// Writes the feed until its end: that of the log, of the key or of the service.
  ///
  /// A feed that follows waits for a database that is lost; another one fails.
  func run(_ writer: BodyWriter) async throws {
    let alarm = Alarm(loop: loop)
    writer.whenEnding { alarm.setOff() }
    var progress = Progress(position: start)
    try await writer.write(format.preamble)
    while true {
      if writer.isClosed { throw BodyWriter.Closed() }
      if last == nil && writer.isDraining { return }
      switch try await step(&progress, writer) {
      case .another: break
      case .end: return
      case .pause: await alarm.wait(atMost: Self.retryPause)
      case .rest: await rest(alarm, progress, writer)
      }
      if !writer.isClosed, Instant.now() - progress.lastWrite >= Self.heartbeatInterval {
        try await writer.write(format.heartbeat)
        progress.lastWrite = Instant.now()
      }
    }
  }

  private func step(_ progress: inout Progress, _ writer: BodyWriter) async throws -> Step {
    do {
      guard try await isAllowed(&progress) else { return .end }
      progress.lastRead = Instant.now()
      let page = try await accounts.log(after: progress.position, selecting: selection)
      try await send(page.events, &progress, writer)
      let isFruitless = page.end == progress.position && tail.head > page.end
      progress.fruitless = isFruitless ? progress.fruitless + 1 : 0
      progress.position = page.end
      if last.map({ page.end >= $0 }) ?? false { return .end }
      guard page.isLast else { return .another }
      return last == nil ? .rest : .end
    } catch AccountsError.unavailable where last == nil {
      return .pause
    }
  }

  private func send(
    _ events: [LogPage.Item],
    _ progress: inout Progress,
    _ writer: BodyWriter
  ) async throws(BodyWriter.Closed) {
    var text: [UInt8] = []
    for item in events where last.map({ item.event.position <= $0 }) ?? true {
      format.write(CloudEvent(id: item.id, event: item.event), into: &text)
      if text.count >= Self.pieceSize {
        try await writer.write(text)
        text.removeAll(keepingCapacity: true)
      }
    }
    guard !text.isEmpty else { return }
    try await writer.write(text)
    progress.lastWrite = Instant.now()
  }

  private func isAllowed(_ progress: inout Progress) async throws(AccountsError) -> Bool {
    guard Instant.now() - progress.lastCheck >= Self.keyCheckInterval else { return true }
    progress.lastCheck = Instant.now()
    return try await accounts.isStillValid(key)
  }

  /// Waits until the log goes on, or something else is due.
  private func rest(_ alarm: Alarm, _ progress: Progress, _ writer: BodyWriter) async {
    let pause = Self.gathering * (1 << min(progress.fruitless, Self.doublingLimit))
    let early = progress.lastRead + pause - Instant.now()
    if early > .zero {
      await alarm.wait(atMost: early)
      // The alarm may have told the end.
      if writer.isDraining || writer.isClosed { return }
    }
    let ticket = tail.whenPast(progress.position) { alarm.setOffFromAnywhere() }
    let due = min(
      progress.lastWrite + Self.heartbeatInterval,
      progress.lastCheck + Self.keyCheckInterval
    )
    await alarm.wait(atMost: max(.zero, due - Instant.now()))
    tail.cancel(ticket)
  }
}
