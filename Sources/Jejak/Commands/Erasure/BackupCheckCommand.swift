import Accounts
import EventLog
import Files
import JSON
import Postgres
import Projections
import Settings
import Verification

/// The command `jejak backup-check`.
enum BackupCheckCommand: Command {
  static let names = ["backup-check"]
  static let syntax = CommandSyntax(
    usage: "jejak backup-check [--erasures FILE] [--checkpoint FILE] [--replay] [--json]",
    summary:
      "Tells what a restored database lacks.\n"
      + "It is held against the list of erasures and the checkpoint that are kept outside of it. "
      + "Prints who is owed an erasure, what of the log was lost, and what to do. The status is 1 "
      + "where anything is owed or lost. Run it before the database is served from.",
    options: [
      CommandOption(
        "erasures",
        "FILE",
        help: "The list; unless given, the one that the settings name."
      ),
      CommandOption(
        "checkpoint",
        "FILE",
        help: "The last checkpoint; unless given, the one that the settings name, if it is there."
      ),
      CommandOption("replay", help: "Erase whoever is owed it."),
      CommandOption("json", help: "Print JSON."),
    ] + Settings.databaseOptions
  )

  /// Users that are looked up at a time.
  private static let batch = 1_000

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let settings = try Settings(arguments)
    guard let path = arguments["erasures"] ?? settings.erasureListPath else {
      throw UsageError("there is no list of erasures; name one with --erasures")
    }
    let list = ErasureList(path: path)
    guard list.exists else {
      throw CommandError(
        "there is no list of erasures at \(path): put your copy back; where nobody has been erased "
          + "yet, an empty file is the list, and where the database has lost nothing, jejak erasure "
          + "export makes it anew"
      )
    }
    let listed = try list.read()
    let kept = try checkpoint(arguments["checkpoint"], settings)
    let report = try Database.withReady(settings) { database in
      let connection = try BlockingConnection(
        target: database.target,
        applicationName: "jejak backup-check"
      )
      // Before anybody is erased, which makes the log longer.
      let held = try kept.map { kept in
        var verification = Verification(
          target: database.target,
          keyring: nil,
          workers: Int(RebuildOptions.defaultWorkers)
        )
        verification.key = try SigningKey.verifier(settings)
        verification.outside = [kept.checkpoint]
        return BackupReport.Kept(
          path: kept.path,
          checkpoint: kept.checkpoint,
          verification: try verification.runShowingProgress()
        )
      }
      var report = try BackupReport(listed, held, connection)
      try check(listed, replays: arguments.has("replay"), &report, connection)
      return report
    }
    if arguments.has("json") {
      Output.write(String(decoding: report.json.bytes, as: UTF8.self) + "\n")
    } else {
      Output.write(report.text)
      Output.complain(report.advice.map { "jejak: \($0)\n" }.joined())
    }
    return report.isWell ? .success : .failure
  }

  /// The checkpoint that is given, or that of the settings where there is one.
  private static func checkpoint(
    _ given: String?,
    _ settings: Settings
  ) throws -> (path: String, checkpoint: OutsideCheckpoint)? {
    guard let path = given ?? SigningKey.checkpointFile(settings) else { return nil }
    do {
      return (path, try OutsideCheckpoint(file: path))
    } catch let failure as SmallFileError where failure.isMissing && given == nil {
      return nil
    }
  }

  private static func check(
    _ listed: [Erasure],
    replays: Bool,
    _ report: inout BackupReport,
    _ connection: borrowing BlockingConnection
  ) throws {
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
  }
}
