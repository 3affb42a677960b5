import Postgres
import TestSupport
import Testing

@Suite("The role of the service", .database)
struct ServiceRoleTests {
  /// A session that works as the service does, in a log with one event.
  private func session() throws -> BlockingConnection {
    try TestDatabase.current.session().script(
      """
      insert into events (position, recorded_at, user_id, event_id, version, stream, schema,
                          actor_kind, type, changed, payload, payload_sha256)
      values (1, now(), gen_random_uuid(), gen_random_uuid(), 1, 1, 1, 3, 'X', '{}', '', '')
      """
    )
    return try BlockingConnection(
      target: TestDatabase.current.target,
      applicationName: "service",
      setup: ["set role jejak_service"]
    )
  }

  @Test(arguments: [
    "update events set type = 'Y'",
    "delete from events",
    "truncate events",
    "drop table events",
    "alter table events add column x integer",
    "create table mine (n integer)",
    "create function mine() returns integer language sql as 'select 1'",
    "create or replace rule r as on insert to events do instead nothing",
    "delete from current_users",
    "delete from credentials",
    "delete from user_keys",
    "insert into user_keys values (gen_random_uuid(), 1, '')",
    "update user_keys set wrapped_key = ''",
    "insert into erasures values (gen_random_uuid(), 1, now())",
    "update erasures set erased_at = now()",
    "delete from erasures",
    "update events set payload = null",
    "delete from log_head",
    "update log_head set singleton = true",
    "insert into log_head default values",
    "update migrations set digest = ''",
    "create role other",
    "copy events to program 'true'",
  ])
  func `can't change history or the schema`(statement: String) throws {
    let session = try session()
    let failure = #expect(throws: BlockingConnection.Failure.self) {
      try session.script(statement)
    }
    #expect(failure?.sqlState == "42501")
  }

  @Test func `can read the log, add to it and lock its head`() throws {
    let session = try session()
    #expect(try session.query("select from events").count == 1)
    #expect(try session.query("select from log_head for update").count == 1)
    #expect(try session.query("select from migrations").count > 0)
    try session.script(
      """
      insert into events (position, recorded_at, user_id, event_id, version, stream, schema,
                          actor_kind, type, changed, payload, payload_sha256)
      values (2, now(), gen_random_uuid(), gen_random_uuid(), 1, 1, 1, 3, 'X', '{}', '', '')
      """
    )
  }
}
