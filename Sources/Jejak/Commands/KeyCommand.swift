import EventLog
import Files
import JSON
import Keys
import Postgres
import Profiles
import Settings

/// The command `jejak key generate|list|rotate`.
enum KeyCommand: Command {
  static let names = ["key"]
  static let syntax = CommandSyntax(
    usage: "jejak key generate | list | rotate",
    summary: "Looks after the master keys, which wrap the keys of the users.\n"
      + "generate: adds a new key to the key file, which is made where it is missing.\n"
      + "list: shows the keys of the file, and how many users are under each.\n"
      + "rotate: brings all users to the newest key of the file, while the service goes on; where "
      + "they are under it already, a new one is added first. Services on other machines need the "
      + "file with the new key before: there, generate, copy the file, then rotate.",
    options: [CommandOption("json", help: "Print JSON.")] + Settings.databaseOptions,
    operands: 1...1
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let settings = try Settings(arguments)
    let wantsJSON = arguments.has("json")
    switch arguments.operands[0] {
    case "generate": return try generate(settings, wantsJSON)
    case "list": return try list(settings, wantsJSON)
    case "rotate": return try rotate(settings, wantsJSON)
    default:
      throw UsageError("unknown verb '\(arguments.operands[0])'; usage: \(syntax.usage)")
    }
  }

  /// Needs no database: a service elsewhere asks for the file before it starts.
  private static func generate(_ settings: Settings, _ wantsJSON: Bool) throws -> ExitStatus {
    let path = try Database.masterKeyFile(settings)
    var keys = MasterKeys()
    if try !SmallFile.make(path, Array(keys.text.utf8)) { keys = try MasterKeys.add(to: path) }
    if wantsJSON {
      Output.write(["file": .string(path), "masterKey": .integer(Int64(keys.newest))])
    } else {
      Output.complain("jejak: master key \(keys.newest) is in \(path); keep a copy of the file\n")
    }
    return .success
  }

  private static func list(_ settings: Settings, _ wantsJSON: Bool) throws -> ExitStatus {
    try Database.withReady(settings) { database in
      let path = try database.masterKeyFile()
      let connection = try BlockingConnection(
        target: database.target,
        applicationName: "jejak key list"
      )
      let inUse = try SealingRecord.read(connection).inUse?.number
      let inFile = try MasterKeys(file: path).numbers
      let users = try users(connection)
      let numbers = Set(inFile).union(users.keys).union(inUse.map { [$0] } ?? []).sorted()
      if wantsJSON {
        let keys = numbers.map { number -> JSON in
          [
            "masterKey": .integer(Int64(number)), "inFile": .bool(inFile.contains(number)),
            "inUse": .bool(number == inUse), "users": .integer(users[number] ?? 0),
          ]
        }
        Output.write(.array(keys))
      } else {
        let rows = numbers.map { number in
          [
            "\(number)", inFile.contains(number) ? "in the file" : "missing",
            number == inUse ? "in use" : "-", "\(users[number] ?? 0)",
          ]
        }
        Output.write(TextTable.of(["MASTER KEY", "FILE", "USE", "USERS"], rows))
      }
      let missing = numbers.contains { !inFile.contains($0) }
      return missing ? .failure : .success
    }
  }

  private static func users(
    _ connection: borrowing BlockingConnection
  ) throws -> [Int32: Int64] {
    let rows = try connection.query("select master_key, count(*) from user_keys group by 1")
    var users: [Int32: Int64] = [:]
    for row in 0..<rows.count { users[rows.integer(row, 0)] = rows.integer(row, 1) }
    return users
  }

  private static func rotate(_ settings: Settings, _ wantsJSON: Bool) throws -> ExitStatus {
    try Database.withReady(settings) { database in
      // Where no key is in use yet, one is taken.
      _ = try database.keyring()
      let progress = Progress("rotating", unit: "keys")
      let rotation = try KeyRotation(
        target: database.target,
        keyFile: database.masterKeyFile()
      )
      let report = try rotation.run(
        waiting: { Output.complain("jejak: waits for another rotation\n") },
        progress: progress.show
      )
      progress.end()
      tell(report, wantsJSON)
      return report.failures == 0 ? .success : .failure
    }
  }

  private static func tell(_ report: KeyRotation.Report, _ wantsJSON: Bool) {
    if wantsJSON {
      Output.write(
        [
          "masterKey": .integer(Int64(report.masterKey)), "isNew": .bool(report.isNew),
          "rewrapped": .integer(report.rewrapped), "failures": .integer(report.failures),
          "unopened": .array(report.unopened.map { .string($0.description) }),
        ]
      )
    } else {
      Output.write(
        "master key \(report.masterKey) is in use; \(report.rewrapped) keys were wrapped anew\n"
      )
      Output.write(report.unopened.map { "not opened: \($0)\n" }.joined())
    }
    if report.failures > 0 {
      Output.complain(
        "jejak: \(report.failures) users' keys can't be opened by the keys of the file\n"
      )
    }
  }
}
