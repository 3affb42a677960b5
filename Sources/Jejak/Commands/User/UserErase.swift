import Accounts
import Clocks
import EventLog
import Glibc
import JSON
import Postgres
import Profiles
import Settings

/// The verb `erase` of `jejak user`.
enum UserErase {
  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let isSure = arguments.has("yes")
    guard isSure || isatty(0) == 1 else {
      throw UsageError("an erasure can't be undone; say --yes where nobody can be asked")
    }
    let (erasure, isNew) = try UserCommand.with(arguments) { database, connection in
      let user = try UserLookup.find(arguments.operands[1], includesErased: true, connection)
      guard try isSure || confirms(user, arguments.operands[1]) else {
        throw CommandError("nothing was erased")
      }
      guard let outcome = try Erasures.erase(user, by: .system, connection) else {
        throw CommandError("there is no user \(user)")
      }
      note(database.settings, connection)
      return outcome
    }
    if arguments.has("json") {
      let json: JSON = [
        "user": .string(erasure.user.description),
        "position": .integer(erasure.position.rawValue),
        "erasedAt": .string(erasure.erasedAt.description), "new": .bool(isNew),
      ]
      Output.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
    } else {
      Output.write(
        isNew
          ? "erased \(erasure.user) at position \(erasure.position)\n"
          : "\(erasure.user) was erased before, at position \(erasure.position)\n"
      )
    }
    return .success
  }

  private static func confirms(_ user: UserID, _ name: String) throws -> Bool {
    Output.complain("Erase user \(user)? This can't be undone. Type \(name) to go on: ")
    return readLine() == name
  }

  /// A running service lists it too; what is not listed now is listed when one runs.
  private static func note(_ settings: Settings, _ connection: borrowing BlockingConnection) {
    guard let path = settings.erasureListPath else { return }
    do {
      let list = ErasureList(path: path)
      try Erasures.each(connection) { try list.add($0) }
    } catch {
      Output.complain("jejak: the erasure is not in the list yet: \(error)\n")
    }
  }
}
