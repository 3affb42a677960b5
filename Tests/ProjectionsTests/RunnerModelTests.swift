import EventLog
import EventLoop
import Foundation
import Postgres
import Projections
import Synchronization
import TestSupport
import Testing

/// Whatever happens to writers, runners and connections, a projection has seen the log, in order,
/// each event once.
///
/// `JEJAK_TEST_SEED` repeats one run; each run prints its own.
@Suite("The runner, whatever happens,", .database)
struct RunnerModelTests {
  private static let seeds: [UInt64] = {
    if let text = ProcessInfo.processInfo.environment["JEJAK_TEST_SEED"], let seed = UInt64(text) {
      return [seed]
    }
    return [1, 2, 3, .random(in: 4...1_000_000)]
  }()

  @Test(arguments: seeds)
  func `shows each event to each projection once, in order`(seed: UInt64) async throws {
    print("JEJAK_TEST_SEED=\(seed)")
    try RecordingTables.create()
    let model = try RunnerModel(database: TestDatabase.current, seed: seed)
    defer { model.close() }
    let head = try await withLoop { loop in
      try await loop.until(within: .seconds(60)) { try model.head() >= RunnerModel.eventsAtLeast }
      model.endTrouble()
      let head = try model.head()
      for name in ["recorded", "counted"] {
        try await loop.until { try state(of: name).position == Position(head) }
      }
      return head
    }
    #expect(try RecordingTables.recordedIsLog(to: head))
    #expect(try RecordingTables.countedIsLog(to: head))
    for name in ["recorded", "counted"] { #expect(try state(of: name).stop == nil) }
    print("seed \(seed): \(head) events; \(model.summary)")
  }
}

/// Writers that stall, roll back and are killed; runners that fight over the same projections, are
/// stopped, killed and cut off; and who does all that.
private final class RunnerModel: Sendable {
  static let eventsAtLeast: Int64 = 1_200
  private static let writers: UInt64 = 3
  private static let runners = 3
  private static let kinds = 6

  private let database: TestDatabase
  private let isTroubled = Atomic(true)
  private let counts = Mutex([String: Int]())
  private let running = Mutex<[Runner]>([])
  private let threads = Mutex<[LoopThread]>([])

  init(database: TestDatabase, seed: UInt64) throws {
    self.database = database
    for number in 0..<Self.runners { running.withLock { $0.append(contentsOf: run(number)) } }
    for number in 0..<Self.writers {
      try begin("writer-\(number)") { $0.write(SplitMix(state: seed &* 100 &+ number)) }
    }
    try begin("trouble") { $0.trouble(SplitMix(state: seed &* 100 &+ Self.writers)) }
  }

  private func begin(_ name: String, _ body: @escaping @Sendable (RunnerModel) -> Void) throws {
    let thread = try LoopThread(name: name) { [self] in body(self) }
    threads.withLock { $0.append(thread) }
  }

  /// A runner; the first two don't care for the lease.
  private func run(_ number: Int) -> [Runner] {
    var pace = RunnerPace()
    pace.poll = .milliseconds(20)
    pace.gathering = .milliseconds(2)
    pace.heartbeat = .milliseconds(20)
    pace.lease = .milliseconds(200)
    pace.patience = .milliseconds(150)
    pace.stepTimeout = .milliseconds(150)
    pace.lockTimeout = .milliseconds(50)
    pace.firstPause = .milliseconds(5)
    pace.longestPause = .milliseconds(40)
    pace.batch = 40
    pace.takesTurns = number >= 2
    do {
      return [
        try Runner(
          target: database.target,
          keyring: TestKeys.lenient,
          projections: [Recorded.self, Counted.self],
          pace: pace
        ) { [self] report in
          switch report {
          case .disconnected: count("connections lost")
          case .hindered: count("steps refused")
          case .stopped: count("stops")
          case .states, .leads, .resumed: break
          }
        }
      ]
    } catch {
      return []
    }
  }

  func head() throws -> Int64 {
    try database.session().query("select coalesce(max(position), 0) from events").integer(0, 0)
  }

  var summary: String {
    counts.withLock { $0.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" } }
      .joined(separator: ", ")
  }

  private func count(_ what: String) {
    counts.withLock { $0[what, default: 0] += 1 }
  }

  /// Lets the writers and the trouble end; the runners go on.
  func endTrouble() {
    isTroubled.store(false, ordering: .releasing)
    let ending = threads.withLock { threads in
      let ending = threads
      threads = []
      return ending
    }
    for thread in ending { thread.join() }
  }

  func close() {
    endTrouble()
    let runners = running.withLock { $0 }
    for runner in runners { runner.stop() }
    for runner in runners { runner.join() }
  }

  private func write(_ numbers: SplitMix) {
    var numbers = numbers
    while isTroubled.load(ordering: .acquiring) {
      // A session that was killed is replaced; what it had not committed never happened.
      try? writeOnOneSession(&numbers)
    }
  }

  private func writeOnOneSession(_ numbers: inout SplitMix) throws {
    let session = try LogWriter.session(database)
    while isTroubled.load(ordering: .acquiring) {
      let commits = Int.random(in: 0..<5, using: &numbers) > 0
      try LogWriter.append(
        .random(in: 1...8, using: &numbers),
        stall: Int.random(in: 0..<3, using: &numbers) == 0
          ? .random(in: 1...30, using: &numbers) : 0,
        commits: commits,
        notifies: .random(using: &numbers),
        session
      )
      count(commits ? "commits" : "rollbacks")
    }
  }

  private func trouble(_ numbers: SplitMix) {
    var numbers = numbers
    while isTroubled.load(ordering: .acquiring) {
      switch Int.random(in: 0..<Self.kinds, using: &numbers) {
      case 0: terminate(LogWriter.applicationName, &numbers)
      case 1, 2: terminate(Runner.applicationName, &numbers)
      case 3: silence(&numbers)
      case 4: replaceRunner(&numbers)
      default: break
      }
      usleep(.random(in: 0...20_000, using: &numbers))
    }
  }

  private func backend(_ name: String, _ numbers: inout SplitMix) throws -> Int32? {
    var parameters = Parameters()
    parameters.add(name)
    let rows = try database.superuserSession().query(
      """
      select pid from pg_stat_activity
       where application_name = $1::text and datname = current_database() order by pid
      """,
      parameters
    )
    return (0..<rows.count).randomElement(using: &numbers).map { rows.integer($0, 0) }
  }

  private func terminate(_ name: String, _ numbers: inout SplitMix) {
    guard let pid = try? backend(name, &numbers) else { return }
    _ = try? database.superuserSession().query("select pg_terminate_backend(\(pid))")
    count("\(name) killed")
  }

  /// Stops a runner's backend, wherever it is, so that its connection is silent; then lets it go.
  private func silence(_ numbers: inout SplitMix) {
    guard let pid = try? backend(Runner.applicationName, &numbers) else { return }
    kill(pid, SIGSTOP)
    usleep(.random(in: 1000...400_000, using: &numbers))
    kill(pid, SIGCONT)
    count("silences")
  }

  private func replaceRunner(_ numbers: inout SplitMix) {
    let number = Int.random(in: 0..<Self.runners, using: &numbers)
    running.withLock { runners in
      guard runners.indices.contains(number) else { return }
      runners[number].stop()
      runners[number].join()
      if let runner = run(number).first { runners[number] = runner }
    }
    count("runners replaced")
  }
}
