import Clocks
import Files
import JSON
import MerkleTree
import Notary
import Postgres
import Settings

/// The command `jejak checkpoint show|export|key|new-origin`.
enum CheckpointCommand: Command {
  static let names = ["checkpoint"]
  static let syntax = CommandSyntax(
    usage: "jejak checkpoint show | export FILE | key [--origin NAME] | "
      + "new-origin --yes [--origin NAME]",
    summary: "Shows and keeps what was signed of the log, and looks after the key.\n"
      + "show prints the last checkpoint; export puts it into FILE, or on standard output for -. key prints the public key "
      + "that others verify checkpoints and proofs with, and makes the private one where there is "
      + "none. new-origin begins anew under another key, after what was signed was lost: for "
      + "others this is another log.",
    options: [
      CommandOption(
        "origin",
        "NAME",
        help: "With key and new-origin: the name of a key that is made, by which others know the "
          + "log; best an address without its scheme, such as example.com/jejak. Unless given "
          + "localhost/jejak/ and eight random digits, and with new-origin the present name with "
          + "/2 behind it, then /3, and so on."
      ),
      CommandOption("yes", help: "With new-origin: do it."),
      CommandOption("json", help: "With show and key: print JSON."),
    ] + Settings.databaseOptions,
    operands: 1...2
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let verb = arguments.operands[0]
    guard ["show", "export", "key", "new-origin"].contains(verb) else {
      throw UsageError("unknown verb '\(verb)'; usage: \(syntax.usage)")
    }
    guard (arguments.operands.count == 2) == (verb == "export") else {
      throw UsageError("\(verb) takes \(verb == "export" ? "a FILE" : "no operand")")
    }
    if let origin = arguments["origin"] {
      guard verb == "key" || verb == "new-origin" else {
        throw UsageError("--origin goes with key and new-origin")
      }
      guard NoteVerifier.isName(origin) else {
        throw UsageError("--origin: expected a name without spaces and plus, not '\(origin)'")
      }
    }
    guard verb == "new-origin" || !arguments.has("yes") else {
      throw UsageError("--yes goes with new-origin")
    }
    guard verb == "show" || verb == "key" || !arguments.has("json") else {
      throw UsageError("--json goes with show and key")
    }
    let settings = try Settings(arguments)
    switch verb {
    case "show": return try show(settings, asJSON: arguments.has("json"))
    case "export": return try export(settings, to: arguments.operands[1])
    case "key": return try key(settings, arguments["origin"], asJSON: arguments.has("json"))
    default:
      guard arguments.has("yes") else {
        throw UsageError(
          "new-origin: what was signed so far will prove nothing of what comes; say --yes"
        )
      }
      return try begin(settings, arguments["origin"])
    }
  }

  private static func show(_ settings: Settings, asJSON: Bool) throws -> ExitStatus {
    let shown = try with(settings) { connection -> ShownCheckpoint in
      guard let shown = try ShownCheckpoint(connection) else {
        throw CommandError("the log was not signed yet")
      }
      return shown
    }
    Output.write(
      asJSON ? String(decoding: JSON.object(shown.json).bytes, as: UTF8.self) + "\n" : shown.text
    )
    return .success
  }

  private static func export(_ settings: Settings, to path: String) throws -> ExitStatus {
    let rows = try with(settings) { try $0.query(TreeQuery.checkpoint.sql) }
    guard let checkpoint = TreeQuery.checkpoint(rows) else {
      throw CommandError("the log was not signed yet")
    }
    if path == "-" {
      Output.write(checkpoint.note)
      return .success
    }
    do throws(SmallFileError) {
      try SmallFile.replace(path, Array(checkpoint.note.utf8), for: .everybody)
    } catch {
      throw CommandError("\(error)")
    }
    Output.complain("jejak: the checkpoint of \(checkpoint.size) events is in \(path)\n")
    return .success
  }

  private static func key(
    _ settings: Settings,
    _ origin: String?,
    asJSON: Bool
  ) throws -> ExitStatus {
    guard settings.signingKeyFile != nil || settings.databaseURL == nil else {
      throw UsageError("say with --signing-key-file where the key is, or is to be")
    }
    let file = try SigningKey.file(settings)
    let signer = try readOrMake(file, origin)
    if asJSON {
      let body: JSON = [
        "origin": .string(signer.verifier.name), "key": .string(signer.verifier.description),
        "file": .string(file.path),
      ]
      Output.write(String(decoding: body.bytes, as: UTF8.self) + "\n")
    } else {
      Output.write("\(signer.verifier)\n")
    }
    return .success
  }

  private static func readOrMake(_ file: SigningKeyFile, _ origin: String?) throws -> NoteSigner {
    do throws(SmallFileError) {
      do throws(SmallFileError) {
        let signer = try file.read()
        guard origin == nil || origin == signer.verifier.name else {
          throw SmallFileError.unusable(
            file.path,
            reason: "it is the key of \(signer.verifier.name) already"
          )
        }
        return signer
      } catch  where error.isMissing {
        let signer = try file.create(origin: origin)
        Output.complain("jejak: made \(file.path); keep a copy where only you can read it\n")
        return signer
      }
    } catch {
      throw CommandError("\(error)")
    }
  }

  private static func begin(_ settings: Settings, _ origin: String?) throws -> ExitStatus {
    let file = try SigningKey.file(settings)
    let signer = try with(settings) { connection -> NoteSigner in
      do {
        var signer = try file.read()
        // A key that the log doesn't know yet was put there for this.
        if try NewOrigin.isKnown(signer.verifier, connection) {
          signer = try file.renew(origin: origin ?? NewOrigin.nextName(connection))
        } else if let origin, origin != signer.verifier.name {
          throw CommandError("\(file.path) has a new key already, named \(signer.verifier.name)")
        }
        try NewOrigin.begin(signer.verifier, connection)
        return signer
      } catch let failure as SmallFileError {
        throw CommandError("\(failure)")
      }
    }
    Output.write("\(signer.verifier)\n")
    Output.complain(
      "jejak: the log is \(signer.verifier.name) from now on; give its public key to whoever "
        + "verifies, and its key file \(file.path) to each process that serves\n"
    )
    return .success
  }

  private static func with<Result>(
    _ settings: Settings,
    _ body: (borrowing BlockingConnection) throws -> Result
  ) throws -> Result {
    try Database.withReady(settings) { database in
      try body(BlockingConnection(target: database.target, applicationName: "jejak checkpoint"))
    }
  }
}

/// The last checkpoint, and what the log holds beyond it.
private struct ShownCheckpoint {
  let origin: String
  let checkpoint: TreeQuery.StoredCheckpoint
  let root: String
  let signedAt: Timestamp
  let head: Int64
  let key: String

  /// Nil where nothing was signed.
  init?(_ connection: borrowing BlockingConnection) throws {
    let found = try connection.query(TreeQuery.checkpoint.sql)
    guard let checkpoint = TreeQuery.checkpoint(found) else { return nil }
    let rows = try connection.query(
      """
      select signed_at, (select coalesce(max(position), 0) from events), verifier_key,
             encode(root, 'base64')
        from checkpoints natural join log_origins order by origin desc, size desc limit 1
      """
    )
    self.checkpoint = checkpoint
    signedAt = rows.timestamp(0, 0)
    head = rows.integer(0, 1)
    key = rows.string(0, 2) ?? ""
    root = rows.string(0, 3) ?? ""
    origin = NoteVerifier(key)?.name ?? "unknown"
  }

  var json: JSONObject {
    var json: JSONObject = [:]
    json["origin"] = .string(origin)
    json["size"] = .integer(checkpoint.size)
    json["root"] = .string(root)
    json["signedAt"] = .string(signedAt.description)
    json["unsigned"] = .integer(max(0, head - checkpoint.size))
    json["key"] = .string(key)
    json["note"] = .string(checkpoint.note)
    return json
  }

  var text: String {
    """
    origin    \(origin)
    size      \(checkpoint.size)
    root      \(root)
    signed at \(signedAt)
    unsigned  \(max(0, head - checkpoint.size))
    key       \(key)

    """
  }
}
