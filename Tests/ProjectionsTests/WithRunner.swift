import EventLog
import EventLoop
import Postgres
import Projections
import Synchronization
import TestSupport
import Testing

/// What runners have reported, kept for tests.
final class Reports: Sendable {
  private let stops = Mutex<[(name: String, position: Int64, reason: String)]>([])
  private let terms = Mutex(0)
  private let words = Mutex<[String]>([])

  var stopped: [(name: String, position: Int64, reason: String)] { stops.withLock { $0 } }
  /// How often a runner began a term.
  var termsBegun: Int { terms.withLock { $0 } }
  /// Whatever else was told.
  var complaints: [String] { words.withLock { $0 } }

  func add(_ report: Runner.Report) {
    switch report {
    case .stopped(let name, let position, let reason):
      stops.withLock { $0.append((name, position.rawValue, reason)) }
    case .leads(true): terms.withLock { $0 += 1 }
    case .hindered(_, let reason), .disconnected(let reason): words.withLock { $0.append(reason) }
    case .states, .resumed, .leads(false): break
    }
  }
}

/// Runs `body` on a loop while a runner follows the log of the test's database.
func withRunner(
  pace: RunnerPace = RunnerPace(),
  _ body: @escaping @Sendable (EventLoop, Reports) async throws -> Void
) async throws {
  try RecordingTables.create()
  let reports = Reports()
  let runner = try Runner(
    target: TestDatabase.current.target,
    keyring: TestKeys.lenient,
    projections: [Recorded.self, Counted.self],
    pace: pace,
    report: reports.add
  )
  defer {
    runner.stop()
    runner.join()
  }
  try await withLoop { loop in try await body(loop, reports) }
}

/// How `name` stands in the test's database.
func state(of name: String) throws -> ProjectionState {
  let all: [any Projection.Type] = [Recorded.self, Counted.self]
  let states = try ProjectionState.read(all, TestDatabase.current.session())
  return try #require(states.first { $0.name == name })
}
