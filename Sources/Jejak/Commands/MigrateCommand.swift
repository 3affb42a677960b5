import JSON
import Migrations
import Settings

/// The command `jejak migrate [--check]`.
enum MigrateCommand: Command {
  static let names = ["migrate"]
  static let syntax = CommandSyntax(
    usage: "jejak migrate [--check] [--json]",
    summary: "Brings the database's schema to the form that this version works with.",
    options: [
      CommandOption(
        "check",
        help: "Change nothing; print what is pending, with status 1 if anything is."
      ),
      CommandOption("json", help: "Print JSON."),
    ] + Settings.databaseOptions
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let isCheck = arguments.has("check")
    let names = try Database.with(Settings(arguments), create: !isCheck) { database in
      try Preflight.check(database.target)
      let migrator = try Migrator(target: database.target)
      return try isCheck ? migrator.pending() : migrator.migrate()
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
}
