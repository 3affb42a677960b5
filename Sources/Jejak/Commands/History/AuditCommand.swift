import EventLog
import Postgres
import Profiles
import Projections
import Settings

/// The command `jejak audit`.
enum AuditCommand: Command {
  static let names = ["audit"]
  static let syntax = CommandSyntax(
    usage: "jejak audit [--user USER] [--actor WHO] [--field …] [--since TIME] [--json|--csv]",
    summary: "Prints what happened to all users, newest first: who, when, from where, what.\n"
      + "It reads audit_entries, which the service keeps up to date.",
    options: [
      CommandOption("user", "USER", help: "To this user: an id or an e-mail address."),
      CommandOption("stream", "NAME", help: "profile (changes) or access (sign-ins); both."),
    ] + HistoryOptions.options + Settings.databaseOptions
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let options = try HistoryOptions(arguments)
    try Database.withReady(Settings(arguments)) { database in
      let connection = try BlockingConnection(
        target: database.target,
        applicationName: "jejak audit"
      )
      let keyring = try database.keyring()
      var query = AuditQuery(stream: options.stream, filter: options.filter, order: options.order)
      query.user = try arguments["user"].map {
        try UserLookup.find($0, includesErased: true, connection)
      }
      let range = AuditQuery.Range(
        try connection.query(AuditQuery.rangeStatement.sql, query.rangeParameters)
      )
      try HistoryOutput.print(options) { last, length in
        let (statement, parameters) = query.page(
          in: range,
          after: last?.event.position,
          limit: length
        )
        let rows = try connection.query(statement.sql, parameters)
        return AuditedEvent.all(rows, keyring)
      }
      let head: Int64 = try connection.query(LogPage.headStatement.sql).integer(0, 0)
      if head > range.head {
        Output.complain(
          "jejak: \(head - max(0, range.head)) events have no entry yet; the service writes them\n"
        )
      }
    }
    return .success
  }
}
