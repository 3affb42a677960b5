import Settings

/// The command `jejak database-url`.
enum DatabaseURLCommand: Command {
  static let names = ["database-url"]
  static let syntax = CommandSyntax(
    usage: "jejak database-url",
    summary: "Prints a libpq URI of the database, which psql takes.\n"
      + "The embedded server answers it while `jejak serve` or another command runs.",
    options: Settings.databaseOptions
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    try Database.with(Settings(arguments), create: false) { Output.write("\($0.target)\n") }
    return .success
  }
}
