import EventLoop
import Postgres

/// Coalesced reads: all tokens that are presented in one turn of the loop are looked up by one
/// query, so the cost of a query is shared by as many requests as the load brings.
///
/// Nothing is cached: each request is answered with rows that were read after it came.
final class HolderLane: Sendable {
  /// Tokens of one query at most.
  static let batchLimit = 512
  /// Tokens that may wait for a query.
  static let queueLimit = 16_384

  typealias Outcome = Result<Holder?, AccountsError>

  private struct Waiting {
    let digest: [UInt8]
    /// Resumed once, when the batch is answered; checking that would cost each fetch an allocation.
    let continuation: UnsafeContinuation<Outcome, Never>
  }

  private struct State {
    var waiting: [Waiting] = []
    var queriesUnderWay = 0
  }

  /// Queries under way at a time: while one is answered the next is collected.
  private static let queryLimit = 1

  private let statement: Statement
  private let connection: Connection
  private let lifetimes: SessionLifetimes
  private let state: LoopBound<State>

  /// A lane that asks `statement`, one of `Holder`'s.
  init(_ statement: Statement, loop: EventLoop, connection: Connection, lifetimes: SessionLifetimes)
  {
    self.statement = statement
    self.connection = connection
    self.lifetimes = lifetimes
    state = LoopBound(State(), on: loop)
    loop.atEndOfTurn { [weak self] in self?.sendBatch() }
  }

  /// Who holds the token with this digest; nil where nobody does.
  func holder(of digest: [UInt8]) async throws(AccountsError) -> Holder? {
    guard state.value.waiting.count < Self.queueLimit else { throw .overloaded }
    let outcome: Outcome = await withUnsafeContinuation { continuation in
      state.value.waiting.append(Waiting(digest: digest, continuation: continuation))
    }
    return try outcome.get()
  }

  private func sendBatch() {
    guard state.value.queriesUnderWay < Self.queryLimit, !state.value.waiting.isEmpty else {
      return
    }
    let batch = Array(state.value.waiting.prefix(Self.batchLimit))
    state.value.waiting.removeFirst(batch.count)
    state.value.queriesUnderWay += 1
    var parameters = Parameters()
    parameters.add(array: batch) { $0.digest }
    parameters.add(lifetimes.idle)
    parameters.add(lifetimes.touch)
    connection.send([(statement, parameters)]) { [self] outcome in
      state.value.queriesUnderWay -= 1
      switch outcome {
      case .success(let results): complete(batch, results[0])
      case .failure(let error):
        let failure = Outcome.failure(AccountsError(reading: error))
        for waiting in batch { waiting.continuation.resume(returning: failure) }
      }
    }
  }

  private func complete(_ batch: [Waiting], _ rows: Rows) {
    var rowOf = [Int?](repeating: nil, count: batch.count)
    for row in 0..<rows.count {
      let ordinal: Int32 = rows.integer(row, 0)
      rowOf[Int(ordinal) - 1] = row
    }
    for (waiting, row) in zip(batch, rowOf) {
      waiting.continuation.resume(
        returning: .success(row.map { Holder(rows, $0, tokenDigest: waiting.digest) })
      )
    }
  }
}
