import EventLog
import EventLoop
import JSON
import Postgres
import Profiles
import Projections
import TestSupport
import Testing

@Suite("The current users", .database)
struct CurrentUsersTests {
  private static func verify() throws -> CurrentUsersVerify.Report {
    try CurrentUsersVerify(
      target: TestDatabase.current.target,
      keyring: TestKeys.keyring
    ) { _, _ in }.run()
  }

  private static func rebuild(_ options: RebuildOptions = .init()) throws -> RebuildRecord {
    try Rebuild.run(CurrentUsers.self, options, TestDatabase.current.target)
  }

  @Test(arguments: [1, 2, 3])
  func `are what the log adds up to, after any run of commands`(seed: UInt64) async throws {
    let users = try await withLane { loop, lane, _ async throws in
      var log = RandomLog(seed: seed)
      try await log.append(400, to: lane, on: loop)
      return log.users
    }
    let report = try Self.verify()
    #expect(report.position == Position(400))
    #expect(report.users == Int64(users.count))
    #expect(report.differences == 0)
    #expect(try LogLaws().hold)
  }

  @Test func `of an empty log are none`() throws {
    #expect(try Self.verify().users == 0)
    let report = try Self.rebuild()
    #expect(report.state == .done)
    #expect(report.rows == 0)
    #expect(report.caughtUp == 0)
  }

  @Test func `are rebuilt from the log alone`() async throws {
    try await withLane { loop, lane, _ async throws in
      var log = RandomLog(seed: 4)
      try await log.append(200, to: lane, on: loop)
      try TestDatabase.current.session().script(
        "delete from current_users; insert into current_users (user_id, created_at, updated_at, "
          + "version, access_version, status, document) "
          + "values (gen_random_uuid(), now(), now(), 1, 0, 1, '')"
      )
      // The log is right, and the table wrong.
      #expect(try Self.rebuild().state == .differs)
      #expect(try Self.verify().differences > 0)
      var options = RebuildOptions()
      options.acceptsDifferences = true
      let report = try Self.rebuild(options)
      #expect(report.state == .done)
      #expect(report.caughtUp == 200)
      #expect(report.eventsDone == 200)
      #expect(report.rows == Int64(log.users.count))
      #expect(report.differences == Int64(log.users.count + 1))
      #expect(try Self.verify().differences == 0)
      // The service can go on with the new table.
      try await log.append(50, to: lane, on: loop)
      #expect(try Self.verify().differences == 0)
      #expect(try Self.rebuild().caughtUp == 250)
    }
  }

  @Test func `are rebuilt while appends go on`() async throws {
    let target = try TestDatabase.current.target
    let reports = try await withLane { loop, lane, _ async throws in
      let isDone = LoopBound(false, on: loop)
      let writing = Task(executorPreference: loop) {
        var log = RandomLog(seed: 5)
        while !isDone.value { try await log.append(20, to: lane, on: loop) }
        return log.users.count
      }
      try await loop.until { try LogLaws().events > 100 }
      let reports = try await Task.detached {
        try (0..<3).map { _ in try Rebuild.run(CurrentUsers.self, .init(), target) }
      }.value
      isDone.value = true
      _ = try await writing.value
      return reports
    }
    #expect(reports.map(\.state) == [.done, .done, .done])
    #expect(reports.map(\.differences) == [0, 0, 0])
    let positions = reports.compactMap(\.caughtUp)
    #expect(positions == positions.sorted())
    let report = try Self.verify()
    #expect(report.differences == 0)
    #expect(report.position.rawValue > positions.last ?? 0)
    #expect(try LogLaws().hold)
  }

  @Test func `are rebuilt by one process at a time`() async throws {
    let session = try TestDatabase.current.session()
    try session.query(
      "select pg_advisory_lock(hashtext('jejak rebuild current_users ' || current_schema()))"
    )
    let error = #expect(throws: ProjectionError.self) { try Self.rebuild() }
    guard case .busy("current_users")? = error else {
      Issue.record("another error: \(String(describing: error))")
      return
    }
  }

  @Test func `are held against the log row by row`() async throws {
    let users = try await withLane { loop, lane, _ async throws in
      let events = try (0..<6).map { try TestUser.new("user\($0)@example.com") }
      for (_, event) in events { _ = try await lane.append(event) }
      return events.map(\.user.id).sorted()
    }
    let session = try TestDatabase.current.session()
    func run(_ sql: String, _ user: UserID) throws {
      var parameters = Parameters()
      parameters.add(user)
      try session.query(sql, parameters)
    }
    let extra = UserID(high: 0x0001_0000_0000_7000, low: 0x8000_0000_0000_0001)
    let last = UserID(high: .max, low: .max)
    try run(
      "update current_users set document = document || '\\x20' where user_id = $1::uuid",
      users[1]
    )
    try run("update current_users set version = version + 1 where user_id = $1::uuid", users[2])
    try run("delete from current_users where user_id = $1::uuid", users[4])
    for user in [extra, last] {
      try run("insert into current_users values ($1::uuid, now(), now(), 1, 0, 1, '')", user)
    }
    let report = try Self.verify()
    #expect(report.differences == 5)
    #expect(report.different == [extra, users[1], users[2], users[4], last])
    #expect(report.users == 6)
  }
}

@Suite("An event that can't be read", .database)
struct UnreadableEventTests {
  @Test(arguments: [
    "update events set payload = 'no json' where position = 2",
    "update events set payload = '{}' where position = 2",
    "update events set type = 'FromTheFuture' where position = 2",
    "update events set schema = 2 where position = 2",
    "update events set version = 9 where position = 2",
  ])
  func `stops verify and rebuild with its position, and the table stays`(
    damage: String
  )
    async throws
  {
    let target = try TestDatabase.current.target
    try await withLane { _, lane, _ async throws in
      let (user, event) = try TestUser.new()
      _ = try await lane.append(event)
      _ = try await lane.append(try TestUser.update(user, ["firstName": "Augusta"]).event)
      _ = try await lane.append(try TestUser.new("other@example.com").event)
    }
    try TestDatabase.current.session().script(damage)
    for run in [
      { try _ = CurrentUsersVerify(target: target, keyring: TestKeys.keyring) { _, _ in }.run() },
      { try _ = Rebuild.run(CurrentUsers.self, .init(), target) },
    ] {
      let error = #expect(throws: ProjectionError.self) { try run() }
      guard case .unreadable(let position, _)? = error, position == Position(2) else {
        Issue.record("another error: \(String(describing: error))")
        continue
      }
      #expect(error?.description.contains("position 2") == true)
    }
    let rows = try TestDatabase.current.session().query("select from current_users")
    #expect(rows.count == 2)
  }
}
