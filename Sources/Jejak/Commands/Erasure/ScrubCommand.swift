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
      "Writes the tables that held personal data or keys anew.\n"
      + "What has been deleted is not in their files any more then. Each is locked against reading "
      + "and writing meanwhile, one after the other; it takes as much room again as the largest of "
      + "them.",
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
    let report = try Database.withReady(Settings(arguments)) { database in
      let connection = try BlockingConnection(
        target: database.target,
        applicationName: "jejak scrub",
        setup: ["set lock_timeout = \(patience.components.seconds * 1000)", "set jit = off"]
      )
      return try scrub(isWithEvents: arguments.has("events"), patience, connection)
    }
    if arguments.has("json") {
      let json: JSON = [
        "rewritten": .array(report.done.map(JSON.string)),
        "left": .object(
          JSONObject(report.left.map { .init(key: $0.table, value: .string($0.reason)) })
        ),
        "inTheWay": .array(report.inTheWay.map(JSON.string)),
      ]
      Output.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
    } else {
      Output.write(report.done.map { "rewritten: \($0)\n" }.joined())
      Output.write(report.left.map { "left: \($0.table): \($0.reason)\n" }.joined())
    }
    for transaction in report.inTheWay {
      Output.complain("jejak: a transaction from before is still open: \(transaction)\n")
    }
    return report.left.isEmpty ? .success : .failure
  }

  private static func patience(_ text: String?) throws -> Duration {
    guard let text else { return .seconds(10) }
    guard let time = Duration(text: text), time >= .seconds(1), time <= .seconds(86_400) else {
      throw UsageError("--lock-timeout: expected a time such as 10s or 5m, not '\(text)'")
    }
    return time
  }

  private struct Report {
    /// The tables that were written anew.
    var done: [String] = []
    /// Those that were not.
    var left: [(table: String, reason: String)] = []
    /// The transactions that might still ask for what was deleted.
    var inTheWay: [String] = []
  }

  private static func scrub(
    isWithEvents: Bool,
    _ patience: Duration,
    _ connection: borrowing BlockingConnection
  ) throws -> Report {
    try removeErased(connection)
    var report = Report()
    report.inTheWay = try waitForOlder(patience, connection)
    let existing = try (projections.flatMap { name in kinds.map { name + $0 } } + tables)
      .filter { try exists($0, connection) }
    // Statistics of the planner hold values of the columns they are about.
    let all = (isWithEvents ? ["events"] : []) + existing + ["pg_catalog.pg_statistic"]
    // What an open transaction could still see would be taken along.
    guard report.inTheWay.isEmpty else {
      report.left = all.map { ($0, "a transaction from before is still open") }
      return report
    }
    let progress = Progress("scrubbing", unit: "tables")
    for (index, table) in all.enumerated() {
      do {
        if try rewrite(table, connection) {
          report.done.append(table)
        } else {
          report.left.append((table, "this role may not"))
        }
      } catch let failure as BlockingConnection.Failure where !failure.isConnectionLost {
        let holders = try holders(of: table, connection)
        let held = holders.isEmpty ? "" : "; held by \(holders.joined(separator: ", "))"
        report.left.append((table, failure.safeDescription + held))
      }
      progress.show(Int64(index + 1), Int64(all.count))
    }
    progress.end()
    return report
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

  /// A row of `pg_stat_activity`, named `a`, in words.
  private static let process = """
    'process ' || a.pid || coalesce(' (' || nullif(a.application_name, '') || ')', '')
      || coalesce(', open for ' || extract(epoch from clock_timestamp() - a.xact_start)::bigint
                                || ' s', '')
    """

  /// Who has a lock on `table` now.
  private static func holders(
    of table: String,
    _ connection: borrowing BlockingConnection
  ) throws -> [String] {
    let rows = try connection.query(
      """
      select distinct \(process) from pg_locks l join pg_stat_activity a using (pid)
       where l.relation = to_regclass('\(table)') and l.granted and pid <> pg_backend_pid()
         and l.database = (select oid from pg_database where datname = current_database())
      """
    )
    return (0..<rows.count).compactMap { rows.string($0, 0) }
  }

  /// Waits until nobody can see what was deleted before now; who still can where that takes too long.
  private static func waitForOlder(
    _ patience: Duration,
    _ connection: borrowing BlockingConnection
  ) throws -> [String] {
    let now = try connection.query("select pg_current_xact_id()::xid::text").string(0, 0) ?? "0"
    let deadline = Instant.now() + patience
    let semaphore = Semaphore()
    while true {
      let older = try connection.query(
        """
        select \(process) from pg_stat_activity a
         where pid <> pg_backend_pid() and age(backend_xmin) > age('\(now)'::xid)
        union all
        select 'prepared transaction ' || gid || ', open for '
               || extract(epoch from clock_timestamp() - prepared)::bigint || ' s'
          from pg_prepared_xacts where age(transaction) > age('\(now)'::xid)
        union all
        select 'replication slot ' || slot_name
          from pg_replication_slots where age(xmin) > age('\(now)'::xid)
        """
      )
      if older.count == 0 { return [] }
      guard Instant.now() < deadline else {
        return (0..<older.count).compactMap { older.string($0, 0) }
      }
      _ = semaphore.wait(atMost: pause)
    }
  }
}
