import Accounts
import EventLog
import JSON
import Postgres
import Profiles
import Settings

/// The command `jejak backup-check`.
enum BackupCheckCommand: Command {
  static let names = ["backup-check"]
  static let syntax = CommandSyntax(
    usage: "jejak backup-check [--erasures FILE] [--replay] [--json]",
    summary: "Holds a database that was restored from a backup against the list of erasures that "
      + "is kept outside of it, and prints who is owed one.\nThe status is 1 while anybody is. Run "
      + "it before the database is served from.",
    options: [
      CommandOption(
        "erasures",
        "FILE",
        help: "The list; unless given, the one that the settings name."
      ),
      CommandOption("replay", help: "Erase whoever is owed it."),
      CommandOption("json", help: "Print JSON."),
    ] + Settings.databaseOptions
  )

  /// Users that are looked up at a time.
  private static let batch = 1_000

  private struct Report {
    var listed = 0
    /// Who is owed an erasure still.
    var owed: [UserID] = []
    /// Who was erased by this call.
    var erased: [Erasure] = []
    /// The last event of the log.
    var head: Int64 = 0
    /// The last event that the list names.
    var listedHead: Int64 = 0
  }

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let settings = try Settings(arguments)
    guard let path = arguments["erasures"] ?? settings.erasureListPath else {
      throw UsageError("there is no list of erasures; name one with --erasures")
    }
    let list = ErasureList(path: path)
    guard list.exists else { throw CommandError("there is no list of erasures at \(path)") }
    let listed = try list.read()
    let report = try Database.withReady(settings) { database in
      let connection = try BlockingConnection(
        target: database.target,
        applicationName: "jejak backup-check"
      )
      return try check(listed, replays: arguments.has("replay"), connection)
    }
    if arguments.has("json") { writeJSON(report) } else { writeText(report) }
    return report.owed.isEmpty ? .success : .failure
  }

  private static func check(
    _ listed: [Erasure],
    replays: Bool,
    _ connection: borrowing BlockingConnection
  ) throws -> Report {
    var report = Report()
    report.listed = listed.count
    report.listedHead = listed.map(\.position.rawValue).max() ?? 0
    report.head = try connection.query(LogPage.headStatement.sql).integer(0, 0)
    let progress = Progress("checking", unit: "erasures")
    for start in stride(from: 0, to: listed.count, by: batch) {
      let users = listed[start..<min(start + batch, listed.count)].map(\.user)
      for user in try Erasures.owed(users, connection) {
        guard replays, let outcome = try Erasures.erase(user, by: .system, connection) else {
          report.owed.append(user)
          continue
        }
        report.erased.append(outcome.erasure)
      }
      progress.show(Int64(start + users.count), Int64(listed.count))
    }
    progress.end()
    return report
  }

  private static func writeText(_ report: Report) {
    Output.write(report.erased.map { "erased: \($0.user)\n" }.joined())
    Output.write(report.owed.map { "owed: \($0)\n" }.joined())
    Output.complain(
      "jejak: \(report.listed) erasures are listed, \(report.owed.count) of them owed\n"
    )
    guard report.listedHead > report.head else { return }
    Output.complain(
      "jejak: the log ends at position \(report.head), and the list tells of position "
        + "\(report.listedHead): what lay between was lost with the restore\n"
    )
  }

  private static func writeJSON(_ report: Report) {
    let json: JSON = [
      "listed": .integer(Int64(report.listed)),
      "owed": .array(report.owed.map { .string($0.description) }),
      "erased": .array(report.erased.map { .string($0.user.description) }),
      "position": .integer(report.head), "listedPosition": .integer(report.listedHead),
    ]
    Output.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
  }
}
