import Accounts
import Clocks
import JSON
import Postgres
import Profiles
import Settings

/// The command `jejak apikey create|list|revoke`.
enum APIKeyCommand: Command {
  static let names = ["apikey"]
  static let syntax = CommandSyntax(
    usage: "jejak apikey create --name NAME --scope SCOPE,… | list | revoke ID",
    summary: "Makes, lists and revokes the keys of operators and their programs.\n"
      + "create prints the key, this once. A revoked key is refused from the next request on.",
    options: [
      CommandOption(
        "name",
        "NAME",
        help: "With create: what the key is for, up to 100 characters."
      ),
      CommandOption(
        "scope",
        "SCOPE,…",
        help: "With create, may be repeated: \(scopeNames). Write implies read of the same thing."
      ),
      CommandOption(
        "expires",
        "TIME",
        help: "With create: how long the key lives, such as 12h or 90d, or the day (UTC) or "
          + "instant at which it ends, such as 2027-01-01. Unless given it lives until revoked."
      ),
      CommandOption("json", help: "Print JSON."),
    ] + Settings.databaseOptions,
    operands: 1...2
  )

  private static let scopeNames = Scope.allCases.map(\.rawValue).joined(separator: ", ")
  private static let longestName = 100

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let verb = arguments.operands[0]
    guard ["create", "list", "revoke"].contains(verb) else {
      throw UsageError("unknown verb '\(verb)'; usage: \(syntax.usage)")
    }
    guard (arguments.operands.count == 2) == (verb == "revoke") else {
      throw UsageError("\(verb) takes \(verb == "revoke" ? "an ID" : "no operand")")
    }
    for option in ["name", "scope", "expires"] where verb != "create" && arguments.has(option) {
      throw UsageError("--\(option) goes with create")
    }
    switch verb {
    case "create": return try create(arguments)
    case "list": return try list(arguments)
    default: return try revoke(arguments)
    }
  }

  private static func with<Result>(
    _ arguments: CommandArguments,
    _ body: (borrowing BlockingConnection) throws -> Result
  ) throws -> Result {
    try Database.withReady(Settings(arguments)) { database in
      try body(BlockingConnection(target: database.target, applicationName: "jejak apikey"))
    }
  }

  private static func create(_ arguments: CommandArguments) throws -> ExitStatus {
    let name = try name(arguments["name"])
    let scopes = try scopes(arguments.options.filter { $0.name == "scope" }.map(\.value))
    let expiry = try arguments["expires"].map(expiry) ?? .never
    let (key, listed) = try with(arguments) { connection in
      try APIKeys.create(name: name, scopes: scopes, expiry: expiry, connection)
    }
    if arguments.has("json") {
      var members = APIKeyText.json(listed)
      members["key"] = .string(key.text)
      Output.write(String(decoding: JSON.object(members).bytes, as: UTF8.self) + "\n")
    } else {
      Output.write("\(key.text)\n")
      Output.complain(
        "jejak: this is API key \(listed.id); keep it, it can't be shown again\n"
      )
    }
    return .success
  }

  private static func list(_ arguments: CommandArguments) throws -> ExitStatus {
    let keys = try with(arguments) { try APIKeys.list($0) }
    if arguments.has("json") {
      let json = JSON.array(keys.map { .object(APIKeyText.json($0)) })
      Output.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
    } else {
      Output.write(APIKeyText.table(keys))
    }
    return .success
  }

  private static func revoke(_ arguments: CommandArguments) throws -> ExitStatus {
    guard let id = KeyID(arguments.operands[1]) else {
      throw UsageError("'\(arguments.operands[1])' is no id of a key; see jejak apikey list")
    }
    let (revocation, key) = try with(arguments) { connection in
      (try APIKeys.revoke(id, connection), try APIKeys.list(connection).first { $0.id == id })
    }
    guard revocation != .notFound, let key else {
      throw CommandError("there is no API key \(id); see jejak apikey list")
    }
    if arguments.has("json") {
      let json = JSON.object(APIKeyText.json(key))
      Output.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
    } else {
      let word = revocation == .already ? "was revoked before" : "is revoked"
      Output.complain("jejak: API key \(id) \(word)\n")
    }
    return .success
  }

  private static func name(_ text: String?) throws -> String {
    guard let text, !text.isEmpty else { throw UsageError("--name: say what the key is for") }
    let isPlain = text.unicodeScalars.allSatisfy {
      ![.control, .format, .lineSeparator, .paragraphSeparator]
        .contains($0.properties.generalCategory)
    }
    guard text.unicodeScalars.count <= longestName, isPlain else {
      throw UsageError("--name: expected at most \(longestName) characters that can be seen")
    }
    return text
  }

  private static func scopes(_ lists: [String]) throws -> [Scope] {
    var scopes: [Scope] = []
    for name in lists.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
      guard let scope = Scope(rawValue: String(name)) else {
        throw UsageError("--scope: expected some of \(scopeNames), not '\(name)'")
      }
      if !scopes.contains(scope) { scopes.append(scope) }
    }
    guard !scopes.isEmpty else { throw UsageError("--scope: expected some of \(scopeNames)") }
    return scopes
  }

  private static func expiry(_ text: String) throws -> APIKeys.Expiry {
    if let life = Duration(text: text) {
      guard life > .zero, life <= APIKeys.longestLife else {
        throw UsageError("--expires: expected a time of up to 100 years, not '\(text)'")
      }
      return .after(life)
    }
    guard let instant = Timestamp(startOfDay: text) ?? Timestamp(text) else {
      throw UsageError(
        "--expires: expected a time such as 12h or 90d, or a day such as 2027-01-01, not '\(text)'"
      )
    }
    guard instant > .now() else { throw UsageError("--expires: '\(text)' is over") }
    return .at(instant)
  }
}
