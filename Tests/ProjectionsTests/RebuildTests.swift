import EventLog
import EventLoop
import Postgres
import Profiles
import Projections
import Synchronization
import TestSupport
import Testing

@Suite("A rebuild", .database)
struct RebuildTests {
  private static let names = ReadModels.all.map { $0.name }

  private static func projection(_ name: String) throws -> any Projection.Type {
    try #require(ReadModels.named(name))
  }

  private static func rebuild(
    _ name: String,
    _ options: RebuildOptions = .init()
  ) throws -> RebuildRecord {
    try Rebuild.run(projection(name), options, TestDatabase.current.target)
  }

  /// What the table holds, as text.
  private static func table(_ name: String) throws -> String? {
    try TestDatabase.current.session().query(
      "select string_agg(t::text, '|' order by t::text) from \(name) t"
    ).string(0, 0)
  }

  private static func append(_ count: Int, seed: UInt64) async throws {
    try await withLane { loop, lane, _ async throws in
      var log = RandomLog(seed: seed)
      try await log.append(count, to: lane, on: loop)
    }
  }

  /// The indexes and keys of the projections' tables, and their statistics.
  private static func indexes() throws -> String? {
    try TestDatabase.current.session().query(
      """
      select string_agg(tablename || ' ' || indexname || ' '
                          || (conname is not null) || ' '
                          || (select string_agg(attstattarget::text, ' ' order by attnum)
                                from pg_attribute where attrelid = indexname::regclass),
                        ', ' order by tablename, indexname)
        from pg_indexes left join pg_constraint on conname = indexname
       where tablename in ('current_users', 'audit_entries', 'directory', 'statistics')
         and schemaname = current_schema()
      """
    ).string(0, 0)
  }

  @Test(arguments: names)
  func `gives the same table twice, with its keys, and can be rolled back`(
    name: String
  ) async throws {
    try await Self.append(300, seed: 11)
    let indexes = try Self.indexes()
    let before = try Self.table(name)
    var options = RebuildOptions()
    options.workers = 3
    let first = try Self.rebuild(name, options)
    #expect(first.state == .done)
    #expect(first.caughtUp == 300)
    #expect(first.eventsDone == 300 && first.eventsTotal == 300)
    let rebuilt = try Self.table(name)
    #expect(rebuilt != nil)

    let second = try Self.rebuild(name)
    #expect(second.state == .done)
    #expect(second.differences == 0)
    #expect(try Self.table(name) == rebuilt)
    #expect(try Self.indexes() == indexes)

    // The one before the second rebuild, and the second one again.
    let target = try TestDatabase.current.target
    _ = try Rollback(target: target, keyring: TestKeys.keyring).run(Self.projection(name))
    #expect(try Self.table(name) == rebuilt)
    _ = try Rollback(target: target, keyring: TestKeys.keyring).run(Self.projection(name))
    #expect(try Self.table(name) == rebuilt)
    #expect(try Self.indexes() == indexes)
    if name == "current_users" { #expect(before == rebuilt) }
    let session = try TestDatabase.current.session()
    #expect(try PreviousTable.drop(Self.projection(name), session) != nil)
    #expect(throws: ProjectionError.self) {
      try Rollback(target: target, keyring: TestKeys.keyring).run(Self.projection(name))
    }
  }

  @Test(arguments: names)
  func `holds itself against the live table, and stops where they differ`(
    name: String
  ) async throws {
    try await Self.append(200, seed: 12)
    _ = try Self.rebuild(name)
    let right = try Self.table(name)
    try TestDatabase.current.session().script("delete from \(name)")
    var options = RebuildOptions()
    options.isDryRun = true
    let tried = try Self.rebuild(name, options)
    #expect(tried.state == .done)
    #expect(tried.differences ?? 0 > 0)
    #expect(tried.differing.count == Int(min(100, tried.differences ?? 0)))
    #expect(try Self.table(name) == nil)

    #expect(try Self.rebuild(name).state == .differs)
    #expect(try Self.table(name) == nil)
    options.isDryRun = false
    options.acceptsDifferences = true
    #expect(try Self.rebuild(name, options).state == .done)
    #expect(try Self.table(name) == right)
  }

  @Test(arguments: names)
  func `goes on where it was interrupted`(name: String) async throws {
    try await Self.append(240, seed: 13)
    let target = try TestDatabase.current.target
    var options = RebuildOptions()
    options.workers = 2
    options.throttle = 2_000
    // Interrupted after each look, until it comes through: each run gets a little further.
    var runs = 0
    var result: RebuildRecord
    repeat {
      let rebuild = try Rebuild(target: target, keyring: TestKeys.keyring)
      let begun = try rebuild.begin(Self.projection(name), options)
      #expect(begun.isResumed == (runs > 0))
      result = try rebuild.run(begun.rebuild, of: Self.projection(name)) {
        (progress: RebuildProgress) -> Bool in
        #expect(progress.eventsDone <= progress.eventsTotal)
        return runs > 3
      }
      #expect(result.eventsDone <= 240)
      runs += 1
    } while result.isOpen
    #expect(result.state == .done)
    #expect(try Self.rebuild(name).differences == 0)
  }

  @Test func `of a projection is refused while another process is at it`() async throws {
    try await Self.append(20, seed: 14)
    let target = try TestDatabase.current.target
    let first = try Rebuild(target: target, keyring: TestKeys.keyring)
    _ = try first.begin(CurrentUsers.self, .init())
    let second = try Rebuild(target: target, keyring: TestKeys.keyring)
    #expect(throws: ProjectionError.self) { try second.begin(CurrentUsers.self, .init()) }
    #expect(throws: ProjectionError.self) {
      try Rollback(target: target, keyring: TestKeys.keyring).run(CurrentUsers.self)
    }
  }

  @Test func `begins anew for another revision`() async throws {
    try await Self.append(20, seed: 15)
    let target = try TestDatabase.current.target
    let old = try Rebuild(target: target, keyring: TestKeys.keyring).begin(
      CurrentUsers.self,
      .init()
    ).rebuild
    try TestDatabase.current.session().script("update rebuilds set revision = 0")
    let begun = try Rebuild(target: target, keyring: TestKeys.keyring).begin(
      CurrentUsers.self,
      .init()
    )
    #expect(!begun.isResumed)
    let session = try TestDatabase.current.session()
    #expect(try RebuildRecord.find(old.id, session)?.state == .cancelled)
  }

  @Test func `rolls current users back to a table that knows what has happened since`()
    async throws
  {
    let target = try TestDatabase.current.target
    try await withLane { loop, lane, _ async throws in
      var log = RandomLog(seed: 16)
      try await log.append(100, to: lane, on: loop)
      #expect(try Rebuild.run(CurrentUsers.self, .init(), target).state == .done)
      try await log.append(700, to: lane, on: loop)
    }
    let report = try Rollback(target: target, keyring: TestKeys.keyring).run(CurrentUsers.self)
    #expect(report.position == 800)
    let verified = try CurrentUsersVerify(target: target, keyring: TestKeys.keyring) { _, _ in }
      .run()
    #expect(verified.differences == 0)
    #expect(verified.position == Position(800))
  }

  @Test func `needs no right to make tables but through its functions`() async throws {
    try await Self.append(30, seed: 17)
    let rebuild = try Rebuild(
      target: TestDatabase.current.target,
      keyring: TestKeys.keyring,
      setup: ["set role jejak_service"]
    )
    let begun = try rebuild.begin(CurrentUsers.self, .init())
    let result = try rebuild.run(begun.rebuild, of: CurrentUsers.self) {
      (_: RebuildProgress) -> Bool in true
    }
    #expect(result.state == .done)
    let session = try BlockingConnection(
      target: TestDatabase.current.target,
      applicationName: "service",
      setup: ["set role jejak_service"]
    )
    for (statement, state) in [
      ("create table current_users_rebuild (n integer)", "42501"),
      ("drop table current_users_previous", "42501"),
      ("alter table current_users rename to mine", "42501"),
      ("select rename_projection_table('statistics', '', 'dropped')", "42501"),
      ("select prepare_rebuild('events')", "JJ003"),
      ("select index_rebuild('events')", "JJ003"),
      ("select exchange_projection('events', 'rebuild', 0, 0, 1)", "JJ003"),
      ("select exchange_projection('directory', '', 0, 0, 1)", "JJ003"),
      ("select drop_projection_table('events', 'previous')", "JJ003"),
      ("select drop_projection_table('directory', '')", "JJ003"),
    ] {
      let failure = #expect(throws: BlockingConnection.Failure.self) {
        try session.script(statement)
      }
      #expect(failure?.sqlState == state, "\(statement)")
    }
  }

  @Test func `takes nobody's temporary table for one of its own`() throws {
    let session = try BlockingConnection(
      target: TestDatabase.current.target,
      applicationName: "service",
      setup: ["set role jejak_service"]
    )
    try session.script("create temporary table directory_rebuild (n integer)")
    let failure = #expect(throws: BlockingConnection.Failure.self) {
      try session.script("select exchange_projection('directory', 'rebuild', 0, 0, 1)")
    }
    #expect(failure?.sqlState == "JJ003")
    try session.script("select prepare_rebuild('directory')")
    try session.script("create temporary table directory (n integer)")
    try session.script("select index_rebuild('directory')")
    #expect(
      try TestDatabase.current.session().query(
        "select from pg_indexes where tablename = 'directory_rebuild' and schemaname = 'public'"
      ).count > 1
    )
  }

  @Test func `waits for a reader of the previous table with nothing locked`() async throws {
    let target = try TestDatabase.current.target
    try await Self.append(30, seed: 18)
    #expect(try Rebuild.run(CurrentUsers.self, .init(), target).state == .done)
    let reader = try TestDatabase.current.session()
    try reader.script("begin; select from current_users_previous")
    let ended = LockedFlag()
    let thread = try LoopThread(name: "rebuild") {
      _ = try? Rebuild.run(CurrentUsers.self, .init(), target)
      ended.set()
    }
    let watcher = try TestDatabase.current.session()
    // It has tried more than once, and between two times anybody can have the live table.
    for _ in 0..<3 {
      try watcher.script(
        """
        begin; set local lock_timeout = '10s';
        lock table current_users in access exclusive mode; commit; select pg_sleep(0.3)
        """
      )
    }
    #expect(!ended.isSet)
    try reader.script("commit")
    thread.join()
    let verified = try CurrentUsersVerify(target: target, keyring: TestKeys.keyring) { _, _ in }
      .run()
    #expect(verified.differences == 0)
  }
}

/// A flag that one thread sets and another reads.
private final class LockedFlag: Sendable {
  private let flag = Mutex(false)
  var isSet: Bool { flag.withLock { $0 } }
  func set() { flag.withLock { $0 = true } }
}
