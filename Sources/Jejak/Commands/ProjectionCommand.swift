import EventLog
import JSON
import Postgres
import Profiles
import Projections
import Settings

/// The command `jejak projection list|rebuild|verify [NAME]`.
enum ProjectionCommand: Command {
  static let names = ["projection"]
  static let syntax = CommandSyntax(
    usage: "jejak projection list|rebuild|verify [NAME] [--json]",
    summary: "Lists the read models, builds one anew from the log, or checks it against the log.\n"
      + "rebuild and verify work while the service goes on.",
    options: [CommandOption("json", help: "Print JSON.")] + Settings.databaseOptions,
    operands: 1...2
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let verb = arguments.operands[0]
    let settings = try Settings(arguments)
    switch verb {
    case "list":
      guard arguments.operands.count == 1 else { throw UsageError("list takes no name") }
      return try Database.withReady(settings) { try list($0.target, arguments.has("json")) }
    case "rebuild", "verify":
      guard arguments.operands.count == 2 else {
        throw UsageError("missing argument; usage: jejak projection \(verb) NAME")
      }
      let name = arguments.operands[1]
      guard name == "current_users" else {
        throw UsageError("there is no projection '\(name)'; see jejak projection list")
      }
      return try Database.withReady(settings) { database in
        try verb == "rebuild"
          ? rebuild(database.target, arguments.has("json"))
          : verify(database.target, arguments.has("json"))
      }
    default:
      throw UsageError("unknown verb '\(verb)'; usage: \(syntax.usage)")
    }
  }

  private static func list(_ target: String, _ json: Bool) throws -> ExitStatus {
    let connection = try BlockingConnection(target: target, applicationName: "jejak projection")
    let facts = try connection.query(
      """
      select (select coalesce(max(position), 0) from events), (select count(*) from current_users)
      """
    )
    let position: Int64 = facts.integer(0, 0)
    let rows: Int64 = facts.integer(0, 1)
    if json {
      Output.write(
        """
        [{"name":"current_users","mode":"inline","position":\(position),"lag":0,"rows":\(rows)}]\n
        """
      )
    } else {
      Output.write("NAME           MODE    POSITION  LAG  ROWS\n")
      Output.write("current_users  inline  \(padded(position, 8))  \(padded(0, 3))  \(rows)\n")
    }
    return .success
  }

  private static func rebuild(_ target: String, _ json: Bool) throws -> ExitStatus {
    let progress = Progress("rebuilding current_users", unit: "events")
    let report = try CurrentUsersRebuild(target: target, progress: progress.show).run()
    progress.end()
    let pause = milliseconds(report.pause)
    if json {
      Output.write(
        """
        {"projection":"current_users","position":\(report.position),"events":\(report.events),\
        "users":\(report.users),"seconds":\(milliseconds(report.duration) / 1000),\
        "pauseMilliseconds":\(pause)}\n
        """
      )
    } else {
      Output.write(
        """
        current_users rebuilt to position \(report.position): \(report.users) users from \
        \(report.events) events in \(milliseconds(report.duration) / 1000) s; \
        writes waited \(pause) ms\n
        """
      )
    }
    return .success
  }

  private static func verify(_ target: String, _ json: Bool) throws -> ExitStatus {
    let progress = Progress("verifying current_users", unit: "events")
    let report = try CurrentUsersVerify(target: target, progress: progress.show).run()
    progress.end()
    let names = report.different.map(\.description)
    if json {
      let body: JSON = [
        "projection": "current_users", "position": .integer(report.position.rawValue),
        "users": .integer(report.users), "differences": .integer(report.differences),
        "different": .array(names.map(JSON.string)),
      ]
      Output.write(String(decoding: body.bytes, as: UTF8.self) + "\n")
    } else {
      Output.write(
        """
        current_users at position \(report.position): \(report.users) users compared, \
        \(report.differences) differ\n
        """
      )
      Output.write(names.map { "differs: \($0)\n" }.joined())
    }
    return report.differences == 0 ? .success : .failure
  }

  /// Milliseconds with three decimals.
  private static func milliseconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds * 1_000_000 + attoseconds / 1_000_000_000_000) / 1000
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = "\(number)"
    return String(repeating: " ", count: max(0, width - digits.count)) + digits
  }
}
