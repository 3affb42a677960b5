public import EventLoop
public import Postgres
public import Profiles

/// Group commit: what is to be appended while one batch is under way becomes the next batch.
///
/// A batch is one call of `append_events`: one round trip, one transaction, one flush to disk. It
/// grows by itself as the load does. If it fails as a whole, its users' events are tried apart,
/// so that a bad one harms no neighbour.
///
/// Several events of one user may wait, each decided on what the one before it will make of the
/// profile: a chain. A chain stands and falls together. When one of its events fails, those
/// behind it fail in the same moment, before anything else can be decided or sent: a version
/// that somebody else has made meanwhile must not be taken for the one that was foreseen.
///
/// A lane belongs to one event loop; a process has one, so that batches are as large as can be
/// and `log_head` is contended for by other processes alone.
public final class AppendLane: Sendable {
  /// Batches under way: while one is flushed to disk the next is already at the server, if at least
  /// as many events wait as users are under way.
  public static let batchesAtOnce = 2
  /// Events of one batch at most.
  public static let batchLimit = 512
  /// Events that may wait for a batch.
  public static let queueLimit = 8192

  private typealias Outcome = Result<Appended, AppendError>

  private struct Waiting {
    let event: NewEvent
    /// Resumed once, when the batch is answered; checking that would cost each event an allocation.
    let continuation: UnsafeContinuation<Outcome, Never>
  }

  private struct State {
    var waiting: [Waiting] = []
    var batchesUnderWay = 0
    /// Whose events are part of a batch under way.
    var usersUnderWay = Set<UserID>()
    var failed: (UserID) -> Void = { _ in }
  }

  private let connection: Connection
  private let state: LoopBound<State>

  /// A lane that appends through `connection`, on the same loop.
  public init(loop: EventLoop, connection: Connection) {
    self.connection = connection
    state = LoopBound(State(), on: loop)
    loop.atEndOfTurn { [weak self] in self?.sendBatch() }
  }

  /// Sets what is called when an event of a user has failed, before anyone learns of it; on the
  /// loop.
  public func whenFailed(_ body: @escaping (UserID) -> Void) {
    state.value.failed = body
  }

  /// Appends `event` with whatever else is appended at this moment; on the loop.
  public func append(_ event: NewEvent) async throws(AppendError) -> Appended {
    guard state.value.waiting.count < Self.queueLimit else { throw .overloaded }
    let outcome: Outcome = await withUnsafeContinuation { continuation in
      state.value.waiting.append(Waiting(event: event, continuation: continuation))
    }
    return try outcome.get()
  }

  private func sendBatch() {
    // A smaller one would only cost a flush of its own: it begins when that one has ended, and grows
    // until then.
    guard state.value.waiting.count >= state.value.usersUnderWay.count else { return }
    sendNext()
  }

  private func sendNext() {
    guard state.value.batchesUnderWay < Self.batchesAtOnce, !state.value.waiting.isEmpty else {
      return
    }
    let batch = takeBatch()
    guard !batch.isEmpty else { return }
    state.value.batchesUnderWay += 1
    send(batch) { [self] in
      state.value.batchesUnderWay -= 1
    }
  }

  /// Takes events from the queue in order: of each user one event, or a chain in one piece.
  private func takeBatch() -> [Waiting] {
    var last = [UserID: NewEvent?](minimumCapacity: state.value.waiting.count)
    var batch: [Waiting] = []
    var left: [Waiting] = []
    for waiting in state.value.waiting {
      let event = waiting.event
      // What follows events under way is decided on what they will make: it waits until that is
      // true, since a batch that has been sent can't be taken back.
      guard !state.value.usersUnderWay.contains(event.user) else {
        left.append(waiting)
        continue
      }
      let follows = last[event.user].map { $0.map(event.follows) ?? false } ?? true
      if follows && batch.count < Self.batchLimit {
        last[event.user] = .some(event)
        batch.append(waiting)
      } else {
        // What comes behind an event that stays stays too.
        last[event.user] = .some(nil)
        left.append(waiting)
      }
    }
    state.value.waiting = left
    for waiting in batch { state.value.usersUnderWay.insert(waiting.event.user) }
    return batch
  }

  private func send(_ batch: [Waiting], _ finished: @escaping () -> Void) {
    let parameters = AppendStatement.parameters(batch.map(\.event), strict: false)
    connection.send([(AppendStatement.statement, parameters)]) { [self] outcome in
      switch outcome {
      case .success(let results):
        let appended = AppendStatement.outcome(results[0])
        complete(
          batch.indices.map { index in
            let landed = index < appended.count ? appended[index] : nil
            return (batch[index], landed.map(Outcome.success) ?? .failure(.versionConflict))
          }
        )
        finished()
      case .failure(.refused) where batch.count > 1:
        sendApart(batch, finished)
      case .failure(let error):
        complete(batch.map { ($0, .failure(AppendError(error))) })
        finished()
      }
    }
  }

  /// Tries the events of a failed batch one by one, a chain's first event for all of it.
  private func sendApart(_ batch: [Waiting], _ finished: @escaping () -> Void) {
    // Whoever waited for the batch's end need not wait for each of its events.
    sendNext()
    var users = Set<UserID>()
    let (first, behind) = batch.reduce(into: ([Waiting](), [Waiting]())) { parts, waiting in
      if users.insert(waiting.event.user).inserted {
        parts.0.append(waiting)
      } else {
        parts.1.append(waiting)
      }
    }
    complete(behind.map { ($0, .failure(.versionConflict)) })
    for waiting in first { state.value.usersUnderWay.insert(waiting.event.user) }
    var left = first.count
    for waiting in first {
      send([waiting]) {
        left -= 1
        if left == 0 { finished() }
      }
    }
  }

  /// Breaks the chains of what failed, and then tells everyone.
  private func complete(_ outcomes: [(Waiting, Outcome)]) {
    for (waiting, _) in outcomes { state.value.usersUnderWay.remove(waiting.event.user) }
    var broken = Set<UserID>()
    for case (let waiting, .failure) in outcomes where waiting.event.isForeseen {
      broken.insert(waiting.event.user)
    }
    var behind: [Waiting] = []
    if !broken.isEmpty {
      let failed = state.value.failed
      for user in broken { failed(user) }
      behind = state.value.waiting.filter { broken.contains($0.event.user) && $0.event.isForeseen }
      state.value.waiting.removeAll { broken.contains($0.event.user) && $0.event.isForeseen }
    }
    for (waiting, outcome) in outcomes { waiting.continuation.resume(returning: outcome) }
    for waiting in behind {
      waiting.continuation.resume(returning: .failure(.versionConflict))
    }
  }
}

extension NewEvent {
  /// Whether others may have been decided on what the event will make of the profile.
  fileprivate var isForeseen: Bool { event.stream == .profile }

  /// Whether the event was decided on what `previous` makes of the profile.
  fileprivate func follows(_ previous: NewEvent) -> Bool {
    event.stream == previous.event.stream && expected == previous.expected.next
  }
}

extension AppendError {
  /// What a failed exchange means for what was to be appended.
  public init(_ error: PostgresError) {
    switch error {
    case .unavailable: self = .unavailable
    case .connectionLost: self = .outcomeUnknown
    case .refused(let refusal):
      switch (refusal.sqlState, refusal.constraint) {
      case ("JJ001", _): self = .versionConflict
      case ("JJ002", _): self = .stale
      case ("JJ004", _): self = .masterKeyChanged
      case ("23505", "command_receipts_pkey"?): self = .receiptExists
      case ("23505", let constraint?): self = .taken(constraint: constraint)
      // A sum beyond its integer, or beyond the bound of a column: position or version.
      case ("22003", _), ("23514", "events_position_is_bounded"?),
        ("23514", "events_version_is_bounded"?), ("23514", "current_users_versions_are_bounded"?):
        self = .exhausted(error.description)
      // Deadlock, serialization, a lock or statement that took too long: nothing happened.
      case ("40001", _), ("40P01", _), ("55P03", _), ("57014", _): self = .unavailable
      default: self = .failed(error.description)
      }
    }
  }
}
