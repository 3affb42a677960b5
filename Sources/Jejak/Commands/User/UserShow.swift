import Clocks
import JSON
import Keys
import Postgres
import Profiles
import Projections
import Settings

/// The verb `show` of `jejak user`.
enum UserShow {
  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let moment = try moment(arguments)
    let document = try UserCommand.with(arguments) { database, connection in
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
    guard !past.isErased else { throw CommandError("user \(user) has been erased") }
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
