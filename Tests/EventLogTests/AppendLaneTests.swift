import Clocks
import EventLog
import EventLoop
import JSON
import Postgres
import Profiles
import TestSupport
import Testing

extension AppendLane {
  /// What becomes of `event`.
  func outcome(_ event: NewEvent) async -> Result<Appended, AppendError> {
    do throws(AppendError) {
      return .success(try await append(event))
    } catch {
      return .failure(error)
    }
  }
}

/// The outcomes of events that are appended in one turn of the loop, in their order.
func outcomes(
  _ events: [NewEvent],
  _ loop: EventLoop,
  _ lane: AppendLane
) async -> [Result<Appended, AppendError>] {
  let tasks = events.map { event in
    Task(executorPreference: loop) { await lane.outcome(event) }
  }
  var outcomes: [Result<Appended, AppendError>] = []
  for task in tasks { outcomes.append(await task.value) }
  return outcomes
}

/// A word for what became of an event.
func word(_ outcome: Result<Appended, AppendError>) -> String {
  switch outcome {
  case .success(let appended): "version \(appended.version)"
  case .failure(.taken(let constraint)): "taken \(constraint)"
  case .failure(.failed): "failed"
  case .failure(let error): "\(error)"
  }
}

@Suite("A lane of appends", .database)
struct AppendLaneTests {
  /// Whether the lane's connection waits for a lock.
  private static func isBlocked(_ database: TestDatabase) throws -> Bool {
    try database.superuserSession().query(
      "select from pg_stat_activity where application_name = 'lane' and wait_event_type = 'Lock'"
    ).count == 1
  }

  @Test func `gives what came together positions in that order`() async throws {
    let appended = try await withLane { loop, lane, _ in
      let events = try (0..<50).map { try TestUser.new("user\($0)@example.com").event }
      return try await outcomes(events, loop, lane).map { try $0.get() }
    }
    #expect(appended.map(\.position) == (1...50).map { Position($0) })
    #expect(appended.allSatisfy { $0.version == Version(1) })
    // One batch is one commit, and has one time.
    #expect(Set(appended.map(\.recordedAt)).count == 1)
    #expect(try LogLaws().hold)
  }

  @Test func `lets a batch grow that is smaller than the one under way`() async throws {
    let database = try TestDatabase.current
    let late = try await withLane { loop, lane, _ in
      let session = try database.session()
      try session.script("begin; select from log_head for update")
      let events = try (0..<6).map { try TestUser.new("user\($0)@example.com").event }
      func append(_ range: Range<Int>) -> [Task<Result<Appended, AppendError>, Never>] {
        events[range].map { event in Task(executorPreference: loop) { await lane.outcome(event) } }
      }
      let first = append(0..<3)
      try await loop.until {
        try Self.isBlocked(database)
      }
      var second = append(3..<4)
      await loop.sleep(for: .milliseconds(50))
      second += append(4..<6)
      await loop.sleep(for: .milliseconds(50))
      try session.script("commit")
      for task in first { _ = try await task.value.get() }
      var late: [Appended] = []
      for task in second { late.append(try await task.value.get()) }
      return late
    }
    #expect(late.map(\.position) == (4...6).map { Position($0) })
    #expect(Set(late.map(\.recordedAt)).count == 1)
    #expect(try LogLaws().hold)
  }

  @Test func `lets the events of a chain share a batch, and keeps their order`() async throws {
    let appended = try await withLane { loop, lane, _ in
      var (user, event) = try TestUser.new()
      _ = try await lane.append(event)
      var events: [NewEvent] = []
      for number in 0..<20 as Range<Int64> {
        (user, event) = try TestUser.update(user, ["attributes": ["n": .integer(number)]])
        events.append(event)
      }
      return try await outcomes(events, loop, lane).map { try $0.get() }
    }
    #expect(appended.map(\.version) == (2...21).map { Version($0) })
    #expect(appended.map(\.position) == (2...21).map { Position($0) })
    #expect(Set(appended.map(\.recordedAt)).count == 1)
    #expect(try LogLaws().hold)
  }

  @Test func `keeps the status that an inner event of a chain has made`() async throws {
    try await withLane { loop, lane, _ in
      var (user, event) = try TestUser.new()
      _ = try await lane.append(event)
      var chain: [NewEvent] = []
      (user, event) = try TestUser.decide(user, .suspend)
      chain.append(event)
      for name in ["Augusta", "Annabella"] {
        (user, event) = try TestUser.update(user, ["firstName": .string(name)])
        chain.append(event)
      }
      for outcome in await outcomes(chain, loop, lane) { _ = try outcome.get() }
    }
    let rows = try TestDatabase.current.session().query(
      "select status, version, convert_from(document, 'UTF8') from current_users"
    )
    #expect(rows.integer(0, 0, as: Int16.self) == User.Status.suspended.rawValue)
    #expect(rows.integer(0, 1, as: Int32.self) == 4)
    #expect(rows.string(0, 2)?.contains("Annabella") == true)
  }

  @Test func `lets a chain fall together, and nothing of another user's`() async throws {
    let words = try await withLane { loop, lane, _ in
      let (ada, first) = try TestUser.new("ada@example.com")
      let (charles, second) = try TestUser.new("charles@example.com")
      _ = await outcomes([first, second], loop, lane)
      // Somebody else is faster, so Ada's chain begins on a version that is gone.
      _ = try await lane.append(try TestUser.update(ada, ["firstName": "Augusta"]).event)
      let (next, behind) = try TestUser.update(ada, ["firstName": "A"])
      let last = try TestUser.update(next, ["firstName": "B"]).event
      let other = try TestUser.update(charles, ["firstName": "C"]).event
      return await outcomes([behind, other, last], loop, lane).map(word)
    }
    #expect(words == ["versionConflict", "version 2", "versionConflict"])
    #expect(try LogLaws().events == 4)
    #expect(try LogLaws().hold)
  }

  @Test func `keeps the two streams of a user apart, in the order of their coming`()
    async throws
  {
    let words = try await withLane { loop, lane, _ in
      var (user, event) = try TestUser.new()
      _ = try await lane.append(event)
      var events: [NewEvent] = []
      for number in 0..<10 as Range<Int64> {
        (user, event) = try TestUser.update(user, ["attributes": ["n": .integer(number)]])
        events += [event, TestUser.access(user.id, after: Version(Int32(number)))]
      }
      return await outcomes(events, loop, lane).map(word)
    }
    #expect(words == (0..<10).flatMap { ["version \($0 + 2)", "version \($0 + 1)"] })
    #expect(try LogLaws().hold)
  }

  @Test func `reports an event that was decided on another version, and appends the rest`()
    async throws
  {
    let words = try await withLane { loop, lane, _ in
      let (ada, first) = try TestUser.new("ada@example.com")
      let (charles, second) = try TestUser.new("charles@example.com")
      _ = await outcomes([first, second], loop, lane)
      let stale = try TestUser.update(ada, ["firstName": "Augusta"]).event
        .with(expected: Version(7))
      let right = try TestUser.update(charles, ["firstName": "Charles"]).event
      let unknown = stale.with(user: UserID(at: .now()))
      let together = await outcomes([stale, right, unknown], loop, lane)
      let alone = await outcomes([stale], loop, lane)
      return (together + alone).map(word)
    }
    #expect(words == ["versionConflict", "version 2", "versionConflict", "versionConflict"])
    #expect(try LogLaws().events == 3)
  }

  @Test func `tries a failed batch one by one, so that a bad event harms no neighbour`()
    async throws
  {
    let words = try await withLane { loop, lane, _ in
      let receipt = Receipt(key: Array(repeating: 1, count: 32), request: [2], answer: [3])
      var events = try (0..<6).map { try TestUser.new("user\($0)@example.com").event }
      for index in [1, 3] { events[index] = events[index].with(receipt: receipt) }
      // No document: the row of a new user can't be without one.
      events[4] = events[4].with(document: .some(nil))
      return await outcomes(events, loop, lane).map(word)
    }
    #expect(
      words == ["version 1", "version 1", "version 1", "receiptExists", "failed", "version 1"]
    )
    let laws = try LogLaws()
    #expect(laws.events == 4)
    #expect(laws.hold)
  }

  @Test func `lets nobody wait for the single events of a failed batch`() async throws {
    let database = try TestDatabase.current
    let (positions, held) = try await withLane { loop, lane, _ in
      let session = try database.session()
      try session.script("begin; select from log_head for update")
      var events = try (0..<4).map { try TestUser.new("user\($0)@example.com").event }
      // No document: the row of a new user can't be without one.
      events[1] = events[1].with(document: .some(nil))
      let batch = events[0..<3].map { event in
        Task(executorPreference: loop) { await lane.outcome(event) }
      }
      try await loop.until {
        try Self.isBlocked(database)
      }
      let late = events[3]
      let held = Task(executorPreference: loop) { await lane.outcome(late) }
      await loop.sleep(for: .milliseconds(50))
      try session.script("commit")
      var positions: [Position?] = []
      for task in batch { positions.append(try? await task.value.get().position) }
      return (positions, try await held.value.get().position)
    }
    #expect(held == Position(1))
    #expect(positions == [Position(2), nil, Position(3)])
    #expect(try LogLaws().hold)
  }

  @Test func `refuses to register a user twice`() async throws {
    let words = try await withLane { loop, lane, _ in
      let event = try TestUser.new().event
      return await outcomes([event, event.with()], loop, lane).map(word)
    }
    #expect(words == ["version 1", "taken events_versions_are_unique"])
  }

  @Test func `leaves out a change of a session that has ended`() async throws {
    try await withLane { _, lane, _ in
      let (user, event) = try TestUser.new()
      _ = try await lane.append(event)
      let change = try TestUser.update(user, ["firstName": "Augusta"]).1
        .with(source: Source(session: SessionID(at: .now())))
      await #expect(throws: AppendError.self) { _ = try await lane.append(change) }
    }
    let events = try TestDatabase.current.session().query("select from events").count
    #expect(events == 1)
  }

  @Test func `keeps a receipt with its event, at the event's time`() async throws {
    let appended = try await withLane { _, lane, _ in
      let receipt = Receipt(key: [1], request: [2, 2], answer: [3, 0, 3])
      return try await lane.append(try TestUser.new().event.with(receipt: receipt))
    }
    let rows = try TestDatabase.current.session().query(
      "select receipt_key, request_sha256, answer, created_at from command_receipts"
    )
    #expect(rows.count == 1)
    #expect(Array(rows.bytes(0, 0)) == [1])
    #expect(Array(rows.bytes(0, 1)) == [2, 2])
    #expect(Array(rows.bytes(0, 2)) == [3, 0, 3])
    #expect(rows.timestamp(0, 3) == appended.recordedAt)
  }

  @Test func `lets time stand still rather than fall`() async throws {
    let (first, second) = try await withLane { _, lane, _ in
      let (user, event) = try TestUser.new()
      _ = try await lane.append(event)
      try TestDatabase.current.session().script(
        "update events set recorded_at = '2099-01-01T00:00:00Z'"
      )
      let first = try await lane.append(try TestUser.update(user, ["firstName": "A"]).event)
      return (first, try await lane.append(TestUser.access(user.id, after: .zero)))
    }
    #expect(first.recordedAt.description.hasPrefix("2099-01-01T00:00:00.00"))
    #expect(second.recordedAt >= first.recordedAt)
    #expect(try LogLaws().timeNeverFalls)
  }

  @Test func `tells an unreachable database from an unknown outcome`() async throws {
    let database = try TestDatabase.current
    let word = try await withLane { loop, lane, connection in
      let event = try TestUser.new().event
      try database.terminate("lane")
      try await loop.until { !connection.isReady }
      return EventLogTests.word(await lane.outcome(event))
    }
    #expect(word == "unavailable")

    let lost = try await withLane { loop, lane, _ in
      let session = try database.session()
      try session.script("begin; lock log_head in access exclusive mode")
      let event = try TestUser.new().event
      let task = Task(executorPreference: loop) { await lane.outcome(event) }
      try await loop.until {
        try Self.isBlocked(database)
      }
      try database.terminate("lane")
      return EventLogTests.word(await task.value)
    }
    #expect(lost == "outcomeUnknown")
  }
}
