public import EventLoop
public import Postgres
import Profiles

/// Group commit: what is to be appended while one batch is under way becomes the next batch.
///
/// A batch is one call of `append_events`: one round trip, one transaction, one flush to disk. It
/// grows by itself as the load does. If it fails as a whole, its events are tried one by one, so
/// that a bad one harms no neighbour. A lane belongs to one event loop.
public final class AppendLane: Sendable {
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
    var underWay = false
  }

  private let connection: Connection
  private let state: LoopBound<State>

  /// A lane that appends through `connection`, on the same loop.
  public init(loop: EventLoop, connection: Connection) {
    self.connection = connection
    state = LoopBound(State(), on: loop)
    loop.atEndOfTurn { [weak self] in self?.sendBatch() }
  }

  /// How many events wait for a batch.
  public var waiting: Int { state.value.waiting.count }

  /// Appends `event` with whatever else is appended at this moment.
  public func append(_ event: NewEvent) async throws(AppendError) -> Appended {
    guard state.value.waiting.count < Self.queueLimit else { throw .overloaded }
    let outcome: Outcome = await withUnsafeContinuation { continuation in
      state.value.waiting.append(Waiting(event: event, continuation: continuation))
    }
    return try outcome.get()
  }

  private func sendBatch() {
    guard !state.value.underWay, !state.value.waiting.isEmpty else { return }
    let batch = takeBatch()
    state.value.underWay = true
    send(batch) { [self] in
      state.value.underWay = false
    }
  }

  /// Takes events from the queue in order, one of each user; what is left keeps its order.
  private func takeBatch() -> [Waiting] {
    var users = Set<UserID>(minimumCapacity: state.value.waiting.count)
    var batch: [Waiting] = []
    var left: [Waiting] = []
    for waiting in state.value.waiting {
      if batch.count < Self.batchLimit, users.insert(waiting.event.user).inserted {
        batch.append(waiting)
      } else {
        left.append(waiting)
      }
    }
    state.value.waiting = left
    return batch
  }

  private func send(_ batch: [Waiting], _ finished: @escaping () -> Void) {
    let parameters = AppendStatement.parameters(batch.map(\.event), strict: false)
    connection.send([(AppendStatement.statement, parameters)]) { [self] outcome in
      switch outcome {
      case .success(let results):
        finished()
        complete(batch, results[0])
      case .failure(.refused) where batch.count > 1:
        sendOneByOne(batch, finished)
      case .failure(let error):
        finished()
        let failure = Outcome.failure(AppendError(error))
        for waiting in batch { waiting.continuation.resume(returning: failure) }
      }
    }
  }

  private func sendOneByOne(_ batch: [Waiting], _ finished: @escaping () -> Void) {
    var left = batch.count
    for waiting in batch {
      send([waiting]) {
        left -= 1
        if left == 0 { finished() }
      }
    }
  }

  private func complete(_ batch: [Waiting], _ rows: Rows) {
    var outcomes = [Outcome](repeating: .failure(.versionConflict), count: batch.count)
    for row in 0..<rows.count {
      let ordinal: Int32 = rows.integer(row, 0)
      outcomes[Int(ordinal) - 1] = .success(AppendStatement.appended(rows, row))
    }
    for (waiting, outcome) in zip(batch, outcomes) {
      waiting.continuation.resume(returning: outcome)
    }
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
      case ("23505", "command_receipts_pkey"?): self = .receiptExists
      case ("23505", let constraint?): self = .taken(constraint: constraint)
      // Deadlock, serialization, a lock or statement that took too long: nothing happened.
      case ("40001", _), ("40P01", _), ("55P03", _), ("57014", _): self = .unavailable
      default: self = .failed(error.description)
      }
    }
  }
}
