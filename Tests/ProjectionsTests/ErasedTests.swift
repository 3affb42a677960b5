import Clocks
import EventLog
import JSON
import Postgres
import Profiles
import TestSupport
import Testing

@testable import Projections

@Suite("Whoever has been erased", .database)
struct ErasedTests {
  private static func session() throws -> BlockingConnection {
    try TestDatabase.current.session()
  }

  /// Erases a user as the service does.
  private static func erase(_ user: UserID) throws {
    let rows = try session().query(
      """
      select is_new from erase_user('\(user)', null, null, null, gen_random_uuid(), 3::smallint,
                                    null, null, null)
      """
    )
    #expect(rows.count == 1 && rows.bool(0, 0))
  }

  /// Fills the log, and gives its users.
  private static func append(_ count: Int, seed: UInt64) async throws -> [UserID] {
    try await withLane { loop, lane, _ async throws in
      var log = RandomLog(seed: seed)
      try await log.append(count, to: lane, on: loop)
      return log.users.map(\.id)
    }
  }

  /// Brings the directory's live table to the end of the log, as a runner does.
  private static func follow() throws {
    let session = try session()
    for projection in ReadModels.followers {
      var page = LogStretch(RunnerPace(), TestKeys.keyring)
      while case .applied = try projection.advance(
        session,
        &page,
        count: 100,
        retrying: false
      ) {}
    }
  }

  private static func rebuild(_ name: String) throws -> RebuildRecord {
    try Rebuild.run(
      try #require(ReadModels.named(name)),
      RebuildOptions(),
      TestDatabase.current.target
    )
  }

  /// The users in a table, in order.
  private static func users(in table: String) throws -> [UserID] {
    let rows = try session().query("select user_id from \(table) order by user_id")
    return (0..<rows.count).map { rows.identifier($0, 0) }
  }

  @Test(arguments: ReadModels.all.map { $0.name })
  func `is in no table that is built from the log, which is what it was`(name: String) async throws
  {
    let users = try await Self.append(300, seed: 21)
    try Self.follow()
    let erased = Set(users.enumerated().filter { $0.offset % 3 == 0 }.map(\.element))
    for user in erased { try Self.erase(user) }
    let left = users.filter { !erased.contains($0) }.sorted()
    #expect(try Self.users(in: "directory") == left)
    #expect(try Self.users(in: "current_users") == left)
    try Self.follow()
    #expect(try Self.users(in: "directory") == left)
    // Once from the log alone, and once more held against that.
    for _ in 0..<2 {
      let rebuild = try Self.rebuild(name)
      #expect(rebuild.state == .done)
      #expect(rebuild.differences == 0)
    }
    if name == "directory" || name == "current_users" {
      #expect(try Self.users(in: name) == left)
      #expect(Set(try Self.users(in: name + "_previous")).isDisjoint(with: erased))
    }
    if name == "statistics" {
      let rows = try Self.session().query("select sum(erasures)::bigint from statistics")
      #expect(rows.integer(0, 0) == Int64(erased.count))
    }
    let report = try CurrentUsersVerify(
      target: TestDatabase.current.target,
      keyring: TestKeys.keyring
    ) { _, _ in }.run()
    #expect(report.differences == 0)
    #expect(report.users == Int64(left.count))
  }

  @Test func `goes from the tables that are kept beside the live one`() async throws {
    let users = try await Self.append(120, seed: 22)
    try Self.follow()
    for name in ["current_users", "directory"] {
      _ = try Self.rebuild(name)
      try Self.session().script("create table \(name)_rebuild as select * from \(name)")
    }
    try Self.erase(users[0])
    for name in ["current_users", "directory"] {
      for kind in ["", "_previous", "_rebuild"] {
        #expect(try !Self.users(in: name + kind).contains(users[0]), "\(name)\(kind)")
        #expect(try Self.users(in: name + kind).count == users.count - 1, "\(name)\(kind)")
      }
    }
    // What a rebuild has read before, and puts in afterwards.
    let target = try TestDatabase.current.target
    let session = try Self.session()
    for name in ["current_users", "directory"] {
      try session.script(
        "insert into \(name)_rebuild select (p).* from (select p from \(name)_previous p limit 1) q"
      )
      try session.script(
        "update \(name)_rebuild set user_id = '\(users[0])' where ctid = (select max(ctid) from \(name)_rebuild)"
      )
      #expect(try Self.users(in: "\(name)_rebuild").contains(users[0]))
      try session.script("select forget_erased('\(name)', 'rebuild', 120)")
      #expect(try !Self.users(in: "\(name)_rebuild").contains(users[0]))
      try session.script("select drop_projection_table('\(name)', 'rebuild')")
      _ = try Rollback(target: target, keyring: TestKeys.keyring).run(
        try #require(ReadModels.named(name))
      )
      #expect(try !Self.users(in: name).contains(users[0]))
    }
  }

  @Test func `is not held to be corrupt where events were read before and rows after`() async throws
  {
    let users = try await Self.append(200, seed: 23)
    try Self.follow()
    let session = try Self.session()
    let rows = try session.query("select \(RecordedEvent.columns) from events order by position")
    let read = TestKeys.events(rows)
    let erased = users[1]
    try Self.erase(erased)
    let stale = read.filter { $0.user == erased && $0.type != "UserRegistered" }
    #expect(stale.contains { Directory.key(of: $0) != nil })
    try Directory.fold(stale, into: "directory", session)
    try CurrentUsers.fold(stale, into: "current_users", session)
    #expect(try !Self.users(in: "directory").contains(erased))
    #expect(try !Self.users(in: "current_users").contains(erased))
    // A row that is missing for no such reason is still told.
    let other = users[2]
    let orphans = read.filter { $0.user == other && $0.type != "UserRegistered" }
    try session.script("delete from current_users where user_id = '\(other)'")
    #expect(throws: ProjectionError.self) {
      try CurrentUsers.fold(orphans, into: "current_users", session)
    }
  }

  @Test func `is not brought back by a follower that read the log before`() async throws {
    let users = try await Self.append(100, seed: 24)
    let session = try Self.session()
    var page = LogStretch(RunnerPace(), TestKeys.keyring)
    // The log has been read as far as it goes, and one event of it is taken in.
    guard
      case .applied(1) = try Directory.advance(session, &page, count: 1, retrying: false)
    else {
      Issue.record("nothing was applied")
      return
    }
    let erased = users[users.count - 1]
    try Self.erase(erased)
    while case .applied = try Directory.advance(session, &page, count: 1, retrying: false) {
      #expect(try !Self.users(in: "directory").contains(erased))
    }
    #expect(try Self.users(in: "directory").count == users.count - 1)
  }

  @Test func `has no past`() async throws {
    let user = UserID(at: .now())
    try await withLane { _, lane, _ async throws in
      var (state, event) = try TestUser.new(id: user)
      _ = try await lane.append(event)
      (state, event) = try TestUser.update(state, ["lastName": "King"])
      _ = try await lane.append(event)
    }
    try Self.erase(user)
    let session = try Self.session()
    for moment in [PastUser.Moment.version(Version(1)), .version(Version(3)), .instant(.now())] {
      var past = PastUser(of: user, at: moment)
      while let (statement, parameters) = past.nextPage {
        try past.add(session.query(statement.sql, parameters), TestKeys.keyring)
      }
      #expect(past.isErased && !past.isReached && past.row == nil)
    }
  }
}

@Suite("A payload that was taken away", .database)
struct LostPayloadTests {
  @Test(arguments: 1...3) func `is no erasure, and is told where it was`(lost: Int32) async throws {
    let user = UserID(at: .now())
    try await withLane { _, lane, _ async throws in
      var (state, event) = try TestUser.new(id: user)
      _ = try await lane.append(event)
      for name in ["King", "Byron"] {
        (state, event) = try TestUser.update(state, ["lastName": .string(name)])
        _ = try await lane.append(event)
      }
    }
    let session = try TestDatabase.current.session()
    try session.script("update events set payload = null where version = \(lost)")
    let unreadable = ProjectionError.unreadable(
      position: Position(Int64(lost)),
      reason: "the payload is gone, and the user has not been erased"
    )
    func told(_ work: () throws -> Void) -> String? {
      do {
        try work()
        return nil
      } catch {
        return "\(error)"
      }
    }
    for version in 1...3 as ClosedRange<Int32> {
      var past = PastUser(of: user, at: .version(Version(version)))
      let words = told {
        while let (statement, parameters) = past.nextPage {
          try past.add(session.query(statement.sql, parameters), TestKeys.keyring)
        }
      }
      #expect(words == (version < lost ? nil : "\(unreadable)"))
      #expect(!past.isErased && past.isReached == (version < lost))
    }
    let verified = told {
      _ = try CurrentUsersVerify(
        target: TestDatabase.current.target,
        keyring: TestKeys.keyring
      ) { _, _ in }.run()
    }
    #expect(verified == "\(unreadable)")
    let rows = try session.query("select \(RecordedEvent.columns) from events order by position")
    let events = TestKeys.events(rows)
    let folded = told { try Directory.fold(events, into: "directory", session) }
    #expect(folded == "\(unreadable)")
  }
}
