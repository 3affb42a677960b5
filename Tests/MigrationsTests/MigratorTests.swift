import Migrations
import Postgres
import TestSupport
import Testing

private let all = [
  "V0001_log", "V0002_accounts", "V0003_service_role", "V0004_projections", "V0005_api_keys",
  "V0006_rebuilds", "V0007_sealing", "V0008_tree", "V0009_erasures", "V0010_narrow_grants",
  "V0011_bounds",
  "V0012_more_bounds",
  "append_events", "add_user_key", "use_master_key", "start_session", "end_sessions",
  "change_password",
  "position_at", "projection_table", "projection_relation", "rename_projection_table",
  "prepare_rebuild", "index_rebuild",
  "exchange_projection", "drop_projection_table", "erase_user", "forget_erased",
]

@Suite("A migrator", .emptyDatabase)
struct MigratorTests {
  private func migrator() throws -> Migrator {
    try Migrator(target: TestDatabase.current.target)
  }

  @Test func `brings a fresh database to its form, once`() throws {
    #expect(try migrator().pending() == all)
    #expect(try migrator().migrate() == all)
    #expect(try migrator().pending() == [])
    #expect(try migrator().migrate() == [])
  }

  @Test func `shares the work with others that come at the same time`() async throws {
    let target = try TestDatabase.current.target
    let applied = try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<4 { group.addTask { try Migrator(target: target).migrate() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(applied.filter { !$0.isEmpty } == [all])
  }

  @Test func `makes a function anew whose text has changed`() throws {
    try migrator().migrate()
    try TestDatabase.current.session().script(
      """
      update migrations set digest = 'of another text' where name = 'append_events';
      drop function append_events
      """
    )
    #expect(try migrator().pending() == ["append_events"])
    #expect(try migrator().migrate() == ["append_events"])
    let rows = try TestDatabase.current.session().query(
      "select from pg_proc where proname = 'append_events'"
    )
    #expect(rows.count == 1)
  }

  @Test func `refuses a migration that was edited after it was applied`() throws {
    try migrator().migrate()
    try TestDatabase.current.session().script(
      "update migrations set digest = 'of another text' where name = 'V0002_accounts'"
    )
    for attempt in [{ try migrator().pending() }, { try migrator().migrate() }] {
      let error = #expect(throws: MigrationError.self) { try attempt() }
      guard case .migrationChanged("V0002_accounts")? = error else {
        Issue.record("another error: \(String(describing: error))")
        return
      }
      #expect(error?.description.contains("'V0002_accounts'") == true)
    }
  }

  @Test func `refuses a database of a newer release`() throws {
    try migrator().migrate()
    try TestDatabase.current.session().script(
      "insert into migrations (name, digest) values ('V9999_future', 'x')"
    )
    let error = #expect(throws: MigrationError.self) { try migrator().migrate() }
    guard case .databaseIsNewer("V9999_future")? = error else {
      Issue.record("another error: \(String(describing: error))")
      return
    }
  }

  @Test func `leaves nothing behind where a step fails`() throws {
    // A table of the second migration is in the way.
    try TestDatabase.current.session().script("create table sessions ()")
    #expect(throws: BlockingConnection.Failure.self) { try migrator().migrate() }
    let rows = try TestDatabase.current.session().query(
      "select from pg_class where relname in ('events', 'migrations', 'log_head')"
    )
    #expect(rows.count == 0)
  }

  @Test func `works for several databases of one server`() async throws {
    try migrator().migrate()
    try await TestDatabase.current.withAnother { other in
      let applied = try Migrator(target: other.target).migrate()
      let pending = try Migrator(target: other.target).pending()
      #expect(applied == all)
      #expect(pending == [])
    }
    #expect(try migrator().pending() == [])
  }

  @Test func `keeps the logs of two schemas in one database apart`() throws {
    let database = try TestDatabase.current
    try database.session().script("create schema other")
    try migrator().migrate()
    let other = try Migrator(target: database.target + "&options=-csearch_path%3Dother")
    #expect(try other.migrate() == all)
    #expect(try other.migrate() == [])
    let rows = try database.session().query("select from pg_class where relname = 'events'")
    #expect(rows.count == 2)
  }
}
