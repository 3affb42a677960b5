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
    let (erasure, isNew, isListed) = try UserCommand.with(arguments) { database, connection in
      let user = try UserLookup.find(arguments.operands[1], includesErased: true, connection)
      guard try isSure || confirms(user, arguments.operands[1]) else {
        throw CommandError("nothing was erased")
      }
      guard let outcome = try Erasures.erase(user, by: .system, connection) else {
        throw CommandError("there is no user \(user)")
      }
      return (outcome.erasure, outcome.isNew, list(database.settings, connection))
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
    return isListed ? .success : .failure
  }

  private static func confirms(_ user: UserID, _ name: String) throws -> Bool {
    Output.complain("Erase user \(user)? This can't be undone. Type \(name) to go on: ")
    return readLine() == name
  }

  /// Whether the erasure is in the list, where one is kept.
  ///
  /// A running service lists it too, and what is not listed now is listed when one runs that can write the list.
  private static func list(
    _ settings: Settings,
    _ connection: borrowing BlockingConnection
  ) -> Bool {
    guard let path = settings.erasureListPath else { return true }
    do {
      let list = ErasureList(path: path)
      try Erasures.each(connection) { try list.add($0) }
      return true
    } catch {
      Output.complain("jejak: erased, but the erasure is not in the list yet: \(error)\n")
      return false
    }
  }
}
