import Clocks
import JSON
import Keys
import Postgres
import Profiles
import Projections
import Settings

/// The command `jejak user show USER`.
enum UserCommand: Command {
  static let names = ["user"]
  static let syntax = CommandSyntax(
    usage: "jejak user show USER [--version N | --at INSTANT] [--json]",
    summary: "Prints a user as they are, or as they were at a version or an instant.\n"
      + "USER is an id or an e-mail address.",
    options: [
      CommandOption("version", "N", help: "As when this version was the present one."),
      CommandOption(
        "at",
        "INSTANT",
        help:
          "As it was at this instant, such as 2026-11-30T10:00:00Z, or when this day began (UTC)."
      ),
      CommandOption("json", help: "Print the JSON document that the HTTP interface gives."),
    ] + Settings.databaseOptions,
    operands: 1...2
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let verb = arguments.operands[0]
    guard verb == "show" else {
      throw UsageError("unknown verb '\(verb)'; usage: \(syntax.usage)")
    }
    guard arguments.operands.count == 2 else {
      throw UsageError("missing argument; usage: \(syntax.usage)")
    }
    let moment = try moment(arguments)
    let document = try Database.withReady(Settings(arguments)) { database in
      let connection = try BlockingConnection(
        target: database.target,
        applicationName: "jejak user"
      )
      let user = try UserLookup.find(arguments.operands[1], connection)
      guard let moment else { return try present(user, connection) }
      return try past(user, at: moment, database.keyring(), connection)
    }
    Output.write(
      arguments.has("json")
        ? String(decoding: document, as: UTF8.self) + "\n" : text(try JSON.parse(document))
    )
    return .success
  }

  private static func moment(_ arguments: CommandArguments) throws -> PastUser.Moment? {
    switch (arguments["version"], arguments["at"]) {
    case (nil, nil): return nil
    case (_?, _?): throw UsageError("give --version or --at, not both")
    case (let text?, nil):
      guard let number = Int32(text), number > 0 else {
        throw UsageError("--version: expected a number above 0, not '\(text)'")
      }
      return .version(Version(number))
    case (nil, let text?):
      guard let instant = Timestamp(startOfDay: text) ?? Timestamp(text) else {
        throw UsageError(
          "--at: expected an instant such as 2026-11-30T10:00:00Z or a day, not '\(text)'"
        )
      }
      return .instant(instant)
    }
  }

  private static func past(
    _ user: UserID,
    at moment: PastUser.Moment,
    _ keyring: Keyring,
    _ connection: borrowing BlockingConnection
  ) throws -> [UInt8] {
    var past = PastUser(of: user, at: moment)
    while let (statement, parameters) = past.nextPage {
      try past.add(connection.query(statement.sql, parameters), keyring)
    }
    guard past.isReached, let row = past.row else {
      switch moment {
      case .version(let version): throw CommandError("user \(user) has no version \(version)")
      case .instant(let instant):
        throw CommandError("user \(user) had not registered at \(instant)")
      }
    }
    return finish(row.user.document, row.user.version, row.createdAt, row.updatedAt)
  }

  private static func present(
    _ user: UserID,
    _ connection: borrowing BlockingConnection
  ) throws -> [UInt8] {
    var parameters = Parameters()
    parameters.add(user)
    let rows = try connection.query(
      """
      select document, version, created_at, updated_at from current_users
       where user_id = $1::uuid
      """,
      parameters
    )
    guard rows.count == 1 else { throw CommandError("there is no user \(user)") }
    return finish(
      Array(rows.bytes(0, 0)),
      Version(rows.integer(0, 1)),
      rows.timestamp(0, 2),
      rows.timestamp(0, 3)
    )
  }

  /// The document with what it lacks: version and times.
  private static func finish(
    _ document: [UInt8],
    _ version: Version,
    _ createdAt: Timestamp,
    _ updatedAt: Timestamp
  ) -> [UInt8] {
    document
      + ",\"version\":\(version),\"createdAt\":\"\(createdAt)\",\"updatedAt\":\"\(updatedAt)\"}"
      .utf8
  }

  /// A line for each member, attributes further in.
  private static func text(_ user: JSON) -> String {
    var lines: [String] = []
    func add(_ members: JSONObject, _ indentation: String) {
      for member in members {
        let name = HistoryText.visible(member.key)
        if member.key == "attributes", indentation.isEmpty, let attributes = member.value.object {
          lines.append("attributes:")
          add(attributes, "  ")
        } else {
          let value = member.value.string ?? String(decoding: member.value.bytes, as: UTF8.self)
          let shown = member.value.isNull ? "-" : HistoryText.visible(value)
          lines.append("\(indentation)\(name): \(shown)")
        }
      }
    }
    add(user.object ?? [:], "")
    return lines.joined(separator: "\n") + "\n"
  }
}
