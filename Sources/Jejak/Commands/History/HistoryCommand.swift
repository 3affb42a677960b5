import EventLog
import Postgres
import Profiles
import Settings

/// The command `jejak history USER`.
enum HistoryCommand: Command {
  static let names = ["history"]
  static let syntax = CommandSyntax(
    usage: "jejak history USER [--stream profile|access] [--field …] [--json|--csv]",
    summary: "Prints what happened to a user, newest first: who, when, from where, old and new.\n"
      + "USER is an id or an e-mail address.",
    options: [
      CommandOption("stream", "NAME", help: "profile (changes) or access (sign-ins); profile.")
    ] + HistoryOptions.options + Settings.databaseOptions,
    operands: 1...1
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let options = try HistoryOptions(arguments)
    try Database.withReady(Settings(arguments)) { database in
      let connection = try BlockingConnection(
        target: database.target,
        applicationName: "jejak history"
      )
      let keyring = try database.keyring()
      let user = try UserLookup.find(
        arguments.operands[0],
        includesErased: true,
        connection
      )
      let head = Position(
        try connection.query(LogPage.headStatement.sql).integer(0, 0)
      )
      try HistoryOutput.print(options) { last, length in
        let (statement, parameters) = History.page(
          of: user,
          stream: options.stream ?? .profile,
          order: options.order,
          filter: options.filter,
          after: last?.event.version,
          upTo: head,
          limit: length
        )
        let rows = try connection.query(statement.sql, parameters)
        return AuditedEvent.all(rows, keyring)
      }
    }
    return .success
  }
}
