import Postgres
import Settings

/// The command `jejak user show|export|erase USER`.
enum UserCommand: Command {
  static let names = ["user"]
  static let syntax = CommandSyntax(
    usage: "jejak user show|export|erase USER [OPTION]…",
    summary: "Shows, exports and erases a user.\nUSER is an id or an e-mail address.\n\n"
      + "show: prints a user as they are, or as they were at a version or an instant.\n"
      + "export: prints all that is held about a user, as one JSON document.\n"
      + "erase: takes away all that is held about a user but the headers of their events. It can't "
      + "be undone.",
    options: [
      CommandOption(
        "version",
        "N",
        help: "With show: as when this version was the present one."
      ),
      CommandOption(
        "at",
        "INSTANT",
        help: "With show: as it was at this instant, such as 2026-11-30T10:00:00Z, or when this "
          + "day began (UTC)."
      ),
      CommandOption("yes", help: "With erase: don't ask."),
      CommandOption(
        "json",
        help: "With show: print the JSON document that the HTTP interface gives. With erase: print "
          + "JSON. An export is JSON anyway."
      ),
    ] + Settings.databaseOptions,
    operands: 1...2
  )

  private static let verbs: [(name: String, options: [String])] = [
    ("show", ["version", "at", "json"]), ("export", ["json"]), ("erase", ["yes", "json"]),
  ]

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let name = arguments.operands[0]
    guard let verb = verbs.first(where: { $0.name == name }) else {
      throw UsageError("unknown verb '\(name)'; usage: \(syntax.usage)")
    }
    guard arguments.operands.count == 2 else {
      throw UsageError("missing argument; usage: \(syntax.usage)")
    }
    for option in ["version", "at", "yes"]
    where arguments.has(option) && !verb.options.contains(option) {
      throw UsageError("user \(name) takes no --\(option)")
    }
    switch name {
    case "show": return try UserShow.run(arguments)
    case "export": return try UserExportVerb.run(arguments)
    default: return try UserErase.run(arguments)
    }
  }

  /// Runs `body` with a connection to the database that the arguments name.
  static func with<Result>(
    _ arguments: CommandArguments,
    _ body: (Database, borrowing BlockingConnection) throws -> Result
  ) throws -> Result {
    try Database.withReady(Settings(arguments)) { database in
      try body(
        database,
        BlockingConnection(target: database.target, applicationName: "jejak user")
      )
    }
  }
}
