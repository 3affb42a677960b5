import EventLog
import JSON
import Postgres
import Profiles
import Settings

/// The command `jejak history USER`.
enum HistoryCommand: Command {
  static let names = ["history"]
  static let syntax = CommandSyntax(
    usage: "jejak history USER [--limit N] [--stream profile|access] [--json]",
    summary: "Prints what happened to a user, newest first: who, when, from where, old and new.\n"
      + "USER is an id or an e-mail address.",
    options: [
      CommandOption("limit", "N", help: "At most so many entries; 50 unless given."),
      CommandOption("stream", "NAME", help: "profile (changes) or access (sign-ins); profile."),
      CommandOption("json", help: "Print a JSON object a line."),
    ] + Settings.databaseOptions,
    operands: 1...1
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    guard let limit = Int(arguments["limit"] ?? "50"), limit > 0 else {
      throw UsageError("--limit: expected a number above 0")
    }
    let name = arguments["stream"] ?? "profile"
    guard let stream = Event.Stream.allCases.first(where: { $0.name == name }) else {
      throw UsageError("--stream: expected profile or access, not '\(name)'")
    }
    try Database.withReady(Settings(arguments)) { database in
      let connection = try BlockingConnection(
        target: database.target,
        applicationName: "jejak history"
      )
      let user = try UserLookup.find(arguments.operands[0], connection)
      let (statement, parameters) = History.page(
        of: user,
        stream: stream,
        order: .newestFirst,
        after: nil,
        limit: limit
      )
      let rows = try connection.query(statement.sql, parameters)
      for row in 0..<rows.count {
        let entry = RecordedEvent(rows, row).historyEntry
        Output.write(
          arguments.has("json")
            ? String(decoding: entry, as: UTF8.self) + "\n"
            : HistoryText.entry(try JSON.parse(entry))
        )
      }
    }
    return .success
  }
}
