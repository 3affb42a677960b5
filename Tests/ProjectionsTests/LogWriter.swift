import Postgres
import TestSupport

/// Appends as the service does, but in SQL, so that it can stall, roll back and be killed.
enum LogWriter {
  static let applicationName = "writer"

  /// Appends `count` events in one transaction, which stalls for `stall` milliseconds while it
  /// holds the lock of the log.
  static func append(
    _ count: Int,
    types: [String] = ["SignInFailed"],
    stall: Int = 0,
    commits: Bool = true,
    notifies: Bool = true,
    _ session: borrowing BlockingConnection
  ) throws {
    var script = "begin; select from log_head for update;"
    for number in 0..<count {
      script += """
        insert into events (position, recorded_at, user_id, event_id, version, stream, schema,
            actor_kind, type, changed, payload, payload_sha256)
          select last.position + 1, clock_timestamp(), who.user_id, gen_random_uuid(),
                 1 + (select count(*) from events e where e.user_id = who.user_id), 2, 1, 3,
                 '\(types[number % types.count])', '{}', '{}', ''
            from (select coalesce(max(position), 0) as position from events) last,
                 (select ('00000000-0000-7000-8000-00000000000' || (random() * 9)::integer)::uuid
                    as user_id) who;
        """
    }
    if stall > 0 { script += "select pg_sleep(\(Double(stall) / 1000));" }
    if notifies { script += "select pg_notify('jejak ' || current_schema(), '');" }
    try session.script(script + (commits ? "commit" : "rollback"))
  }

  static func session(_ database: TestDatabase) throws -> BlockingConnection {
    try BlockingConnection(target: database.target, applicationName: applicationName)
  }
}
