import EmbeddedPostgres
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
      + "list: shows the keys of the file, whether they are the log's, and how many users are under "
      + "each; status 1 where one is missing or another one.\n"
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
    try refuseUsed(settings, path)
    var keys = MasterKeys()
    if try !SmallFile.make(path, Array(keys.text.utf8)) { keys = try MasterKeys.add(to: path) }
    if wantsJSON {
      Output.write(["file": .string(path), "masterKey": .integer(Int64(keys.newest))])
    } else {
      Output.complain("jejak: master key \(keys.newest) is in \(path); keep a copy of the file\n")
    }
    return .success
  }

  /// Throws where the log has used the number that the next key of the file would get: its keys were
  /// lost, and a new one would look as if they were there.
  private static func refuseUsed(_ settings: Settings, _ path: String) throws {
    let isEmbedded = settings.databaseURL == nil
    if isEmbedded, !EmbeddedPostgres.exists(in: settings.dataDirectory) { return }
    var next: Int32 = 1
    do throws(KeyFileError) {
      let keys = try MasterKeys(file: path)
      guard let following = keys.next else { throw .hasNoNext(after: keys.newest, path) }
      next = following
    } catch {
      guard case .file(.missing) = error else { throw error }
    }
    let highest: Int32
    do {
      highest = try Database.with(settings, create: false) { database in
        let connection = try BlockingConnection(
          target: database.target,
          applicationName: "jejak key generate"
        )
        // A database that has no tables yet has used none.
        let isThere = try connection.query("select to_regclass('sealing') is not null")
        guard isThere.bool(0, 0) else { return 0 }
        return try connection.query(
          "select greatest((select master_key from sealing), "
            + "(select max(master_key) from user_keys), 0)"
        ).integer(0, 0)
      }
    } catch {
      Output.complain(
        "jejak: whether the log has used key \(next) already can't be told: \(error)\n"
      )
      return
    }
    guard next > highest else {
      throw CommandError(
        "the log has used master keys up to \(highest), which \(path) doesn't have: put your copy of "
          + "the file back; a new key can't stand for one that was lost"
      )
    }
  }

  /// Whether the key of a number is the log's; nil where nothing tells.
  private static func isRight(
    _ number: Int32,
    among keys: MasterKeys,
    _ inUse: Keyring.InUse?,
    _ connection: borrowing BlockingConnection
  ) throws -> Bool? {
    if let inUse, inUse.number == number {
      do throws(KeyringError) {
        try Keyring.check(keys, inUse)
        return true
      } catch {
        return false
      }
    }
    var parameters = Parameters()
    parameters.add(number)
    // Some, since one may have been altered.
    let rows = try connection.query(
      "select user_id, wrapped_key from user_keys where master_key = $1::integer limit 10",
      parameters
    )
    guard rows.count > 0 else { return nil }
    return (0..<rows.count).contains { row in
      Keyring.opens(
        WrappedKey(masterKey: number, bytes: Array(rows.bytes(row, 1))),
        of: rows.identifier(row, 0),
        keys
      )
    }
  }

  private static func list(_ settings: Settings, _ wantsJSON: Bool) throws -> ExitStatus {
    try Database.withReady(settings) { database in
      let path = try database.masterKeyFile()
      let connection = try BlockingConnection(
        target: database.target,
        applicationName: "jejak key list"
      )
      let record = try SealingRecord.read(connection)
      let inUse = record.inUse?.number
      let keys = try MasterKeys(file: path)
      let inFile = keys.numbers
      var isRight: [Int32: Bool] = [:]
      for number in inFile {
        isRight[number] = try Self.isRight(number, among: keys, record.inUse, connection)
      }
      let users = try users(connection)
      let numbers = Set(inFile).union(users.keys).union(inUse.map { [$0] } ?? []).sorted()
      if wantsJSON {
        let keys = numbers.map { number -> JSON in
          [
            "masterKey": .integer(Int64(number)), "inFile": .bool(inFile.contains(number)),
            "isRight": isRight[number].map { .bool($0) } ?? .null,
            "inUse": .bool(number == inUse), "users": .integer(users[number] ?? 0),
          ]
        }
        Output.write(.array(keys))
      } else {
        let rows = numbers.map { number in
          [
            "\(number)",
            !inFile.contains(number)
              ? "missing" : isRight[number] == false ? "another key" : "in the file",
            number == inUse ? "in use" : "-", "\(users[number] ?? 0)",
          ]
        }
        Output.write(TextTable.of(["MASTER KEY", "FILE", "USE", "USERS"], rows))
      }
      let wrong = inFile.filter { isRight[$0] == false }
      for number in wrong {
        Output.complain(
          "jejak: the file's master key \(number) is not the one that this log was sealed with\n"
        )
      }
      let isMissing = numbers.contains { !inFile.contains($0) }
      return isMissing || !wrong.isEmpty ? .failure : .success
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
        "master key \(report.masterKey) is in use; \(report.rewrapped) "
          + "\(report.rewrapped == 1 ? "key was" : "keys were") wrapped anew\n"
      )
      Output.write(report.unopened.map { "not opened: \($0)\n" }.joined())
    }
    if report.failures > 0 {
      Output.complain(
        "jejak: \(report.failures) \(report.failures == 1 ? "user's key" : "users' keys") "
          + "can't be opened by the keys of the file\n"
      )
    }
  }
}
