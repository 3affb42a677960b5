import EventLog
import JSON
import Migrations
import Settings

/// The command `jejak migrate [--check]`.
enum MigrateCommand: Command {
  static let names = ["migrate"]
  static let syntax = CommandSyntax(
    usage: "jejak migrate [--check] [--json]",
    summary: "Brings the database's schema to the form that this version works with.\n"
      + "A log that was begun before payloads were sealed is sealed after that.",
    options: [
      CommandOption(
        "check",
        help: "Change nothing; print what is pending, with status 1 if anything is."
      ),
      CommandOption("json", help: "Print JSON."),
    ] + Settings.databaseOptions
  )

  /// What sealing a log is called among the migrations.
  private static let sealing = "sealing"

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let isCheck = arguments.has("check")
    let names = try Database.with(Settings(arguments), create: !isCheck) { database in
      try Preflight.check(database.target)
      let migrator = try Migrator(target: database.target)
      let pending = try isCheck ? migrator.pending() : migrator.migrate()
      if isCheck {
        // The table that tells may be among what is pending.
        guard pending.isEmpty else { return pending }
        return try database.hasPlainPayloads() ? [sealing] : []
      }
      try database.beginErasureList()
      return try pending + seal(database)
    }
    if arguments.has("json") {
      let key = isCheck ? "pending" : "applied"
      let body: JSON = .object([key: .array(names.map(JSON.string))])
      Output.write(String(decoding: body.bytes, as: UTF8.self) + "\n")
    } else {
      Output.write(names.map { "\(isCheck ? "pending" : "applied") \($0)\n" }.joined())
      if names.isEmpty { Output.complain("jejak: nothing is pending\n") }
    }
    return isCheck && !names.isEmpty ? .failure : .success
  }

  private static func seal(_ database: Database) throws -> [String] {
    guard try database.hasPlainPayloads() else { return [] }
    let progress = Progress("sealing", unit: "events")
    defer { progress.end() }
    let outcome = try database.seal { done, total in
      progress.show(done, total)
      return true
    }
    switch outcome {
    case .sealed: return [sealing]
    case .already, .stopped: return []
    }
  }
}
