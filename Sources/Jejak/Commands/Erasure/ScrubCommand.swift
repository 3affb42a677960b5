import Clocks
import EventLoop
import JSON
import Postgres
import Settings

/// The command `jejak scrub`.
///
/// A deleted row leaves its bytes in the page until something else is written there. This writes the
/// tables anew, without them.
enum ScrubCommand: Command {
  static let names = ["scrub"]
  static let syntax = CommandSyntax(
    usage: "jejak scrub [--events] [--lock-timeout TIME] [--json]",
    summary:
      "Writes the tables that held personal data or keys anew, so that what has been deleted "
      + "is not in their files any more.\nEach is locked against reading and writing meanwhile, one "
      + "after the other; it takes as much room again as the largest of them.",
    options: [
      CommandOption(
        "events",
        help: "The log as well, which takes long. Its payloads are sealed, and open no more after "
          + "an erasure; but a log that was begun before sealing may have left plain ones behind."
      ),
      CommandOption(
        "lock-timeout",
        "TIME",
        help: "How long a table is waited for; 10s unless given."
      ),
      CommandOption("json", help: "Print JSON."),
    ] + Settings.databaseOptions
  )

  /// Tables besides those of projections.
  private static let tables = [
    "user_keys", "credentials", "sessions", "email_claims", "command_receipts",
  ]
  /// Projections with personal data, and the kinds of their tables.
  private static let projections = ["current_users", "directory"]
  private static let kinds = ["", "_previous", "_rebuild", "_dropped"]
  private static let pause = Duration.milliseconds(100)

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let patience = try patience(arguments["lock-timeout"])
    let (done, left) = try Database.withReady(Settings(arguments)) { database in
      let connection = try BlockingConnection(
        target: database.target,
        applicationName: "jejak scrub",
        setup: ["set lock_timeout = \(patience.components.seconds * 1000)", "set jit = off"]
      )
      return try scrub(isWithEvents: arguments.has("events"), patience, connection)
    }
    if arguments.has("json") {
      let json: JSON = [
        "rewritten": .array(done.map(JSON.string)),
        "left": .object(JSONObject(left.map { .init(key: $0.table, value: .string($0.reason)) })),
      ]
      Output.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
    } else {
      Output.write(done.map { "rewritten: \($0)\n" }.joined())
      Output.write(left.map { "left: \($0.table): \($0.reason)\n" }.joined())
    }
    return left.isEmpty ? .success : .failure
  }

  private static func patience(_ text: String?) throws -> Duration {
    guard let text else { return .seconds(10) }
    guard let time = Duration(text: text), time >= .seconds(1), time <= .seconds(86_400) else {
      throw UsageError("--lock-timeout: expected a time such as 10s or 5m, not '\(text)'")
    }
    return time
  }

  private static func scrub(
    isWithEvents: Bool,
    _ patience: Duration,
    _ connection: borrowing BlockingConnection
  ) throws -> (done: [String], left: [(table: String, reason: String)]) {
    try removeErased(connection)
    // What an open transaction could still see would be taken along.
    guard try waitForOlder(patience, connection) else {
      throw CommandError(
        "a transaction from before is still open, such as a dump; run this again when it has ended"
      )
    }
    let existing = try (projections.flatMap { name in kinds.map { name + $0 } } + tables)
      .filter { try exists($0, connection) }
    // Statistics of the planner hold values of the columns they are about.
    let all = (isWithEvents ? ["events"] : []) + existing + ["pg_catalog.pg_statistic"]
    var done: [String] = []
    var left: [(table: String, reason: String)] = []
    let progress = Progress("scrubbing", unit: "tables")
    for (index, table) in all.enumerated() {
      do {
        if try rewrite(table, connection) {
          done.append(table)
        } else {
          left.append((table, "this role may not"))
        }
      } catch let failure as BlockingConnection.Failure where !failure.isConnectionLost {
        left.append((table, failure.safeDescription))
      }
      progress.show(Int64(index + 1), Int64(all.count))
    }
    progress.end()
    return (done, left)
  }

  /// Writes a table anew; false where the server has passed it over, which it only warns of.
  private static func rewrite(
    _ table: String,
    _ connection: borrowing BlockingConnection
  ) throws -> Bool {
    let file = "select pg_relation_filenode('\(table)')"
    let before = try connection.query(file).integer(0, 0, as: UInt32.self)
    let options = table.hasPrefix("pg_") ? "full" : "full, analyze"
    try connection.script("vacuum (\(options)) \(table)")
    return try connection.query(file).integer(0, 0, as: UInt32.self) != before
  }

  /// Removes what a rebuild that was given up may have left of people erased since.
  private static func removeErased(_ connection: borrowing BlockingConnection) throws {
    for name in projections {
      for kind in kinds.dropFirst() where try exists(name + kind, connection) {
        try connection.script(
          "delete from \(name)\(kind) where user_id in (select user_id from erasures)"
        )
      }
    }
  }

  private static func exists(
    _ table: String,
    _ connection: borrowing BlockingConnection
  ) throws -> Bool {
    try connection.query("select to_regclass('\(table)') is not null").bool(0, 0)
  }

  /// Waits until nobody can see what was deleted before now; false where that takes too long.
  private static func waitForOlder(
    _ patience: Duration,
    _ connection: borrowing BlockingConnection
  ) throws -> Bool {
    let now = try connection.query("select pg_current_xact_id()::xid::text").string(0, 0) ?? "0"
    let deadline = Instant.now() + patience
    let semaphore = Semaphore()
    while true {
      let older = try connection.query(
        """
        select exists (select from pg_stat_activity
                        where pid <> pg_backend_pid() and age(backend_xmin) > age('\(now)'::xid))
            or exists (select from pg_prepared_xacts where age(transaction) > age('\(now)'::xid))
            or exists (select from pg_replication_slots where age(xmin) > age('\(now)'::xid))
        """
      )
      if !older.bool(0, 0) { return true }
      guard Instant.now() < deadline else { return false }
      _ = semaphore.wait(atMost: pause)
    }
  }
}
