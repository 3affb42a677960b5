import Accounts
import Settings

/// The verb `export` of `jejak user`.
enum UserExportVerb {
  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    try UserCommand.with(arguments) { database, connection in
      let user = try UserLookup.find(arguments.operands[1], connection)
      let isThere = try UserExport.write(
        user,
        idle: database.settings.sessionIdle,
        database.keyring(),
        connection
      ) { Output.write($0) }
      guard isThere else { throw CommandError("there is no user \(user)") }
    }
    return .success
  }
}
