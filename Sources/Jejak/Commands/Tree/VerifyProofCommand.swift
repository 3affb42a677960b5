import Clocks
import EventLog
import JSON
import Files
import MerkleTree
import Notary
import Profiles
import Settings
import Sodium

/// The command `jejak verify-proof FILE`.
enum VerifyProofCommand: Command {
  static let names = ["verify-proof"]
  static let syntax = CommandSyntax(
    usage: "jejak verify-proof FILE [--key KEY] [--json]",
    summary: "Verifies that an event is in the log, by a proof that the service gave.\n"
      + "It needs neither the service nor its database. Status 1: the proof proves nothing.",
    options: [
      CommandOption(
        "key",
        "KEY",
        help: "The log's public key, name+id+key, from somebody you trust; unless given that of "
          + "the signing key's file."
      ),
      CommandOption("json", help: "Print JSON."),
    ] + Settings.databaseOptions,
    operands: 1...1
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let path = arguments.operands[0]
    let verifier = try verifier(arguments)
    let bytes: [UInt8]
    do throws(SmallFileError) {
      bytes = try SmallFile.read(path, for: .everybody)
    } catch {
      throw CommandError("\(error)")
    }
    guard let proof = TreeProof(bytes) else { throw CommandError("\(path) is no tlog-proof") }
    guard let extra = proof.extra, let entry = LogEntry(extra), entry.index == proof.index else {
      throw CommandError("\(path) doesn't say which event it is about")
    }
    let checkpoint: Checkpoint
    do throws(TreeProof.Flaw) {
      checkpoint = try proof.verify(entry: extra, by: verifier)
    } catch {
      switch error {
      case .checkpoint:
        throw CommandError("the checkpoint in \(path) is not signed by \(verifier.name)'s key")
      case .inclusion:
        throw CommandError("the event in \(path) is not in the log of its checkpoint")
      }
    }
    Output.write(
      arguments.has("json")
        ? String(decoding: JSON.object(json(entry, checkpoint)).bytes, as: UTF8.self) + "\n"
        : text(entry, checkpoint)
    )
    return .success
  }

  private static func verifier(_ arguments: CommandArguments) throws -> NoteVerifier {
    if let text = arguments["key"] {
      guard let verifier = NoteVerifier(text) else {
        throw UsageError("--key: expected a public key of the form name+id+key, not '\(text)'")
      }
      return verifier
    }
    let settings = try Settings(arguments)
    guard let file = try? SigningKey.file(settings), let signer = try? file.read() else {
      throw UsageError("--key: say which key the log is signed with")
    }
    return signer.verifier
  }

  private static func text(_ entry: LogEntry, _ checkpoint: Checkpoint) -> String {
    """
    proven: the log \(checkpoint.origin) has this event among its first \(checkpoint.size)
    position     \(entry.position)
    recorded at  \(entry.recordedAt)
    user         \(entry.user)
    event        \(entry.event)
    stream       \(streamName(entry))
    version      \(entry.version)
    actor        \(entry.actor.kindName)\(entry.actorID.map { " \($0)" } ?? "")
    details      sha256:\(hexadecimal(entry.details.bytes))
    payload      sha256:\(hexadecimal(entry.payload.bytes))

    """
  }

  private static func json(_ entry: LogEntry, _ checkpoint: Checkpoint) -> JSONObject {
    var actor: JSONObject = ["kind": .string(entry.actor.kindName)]
    actor["id"] = entry.actorID.map { .string($0.description) } ?? .null
    var json: JSONObject = [:]
    json["origin"] = .string(checkpoint.origin)
    json["size"] = .integer(checkpoint.size)
    json["position"] = .integer(entry.position.rawValue)
    json["recordedAt"] = .string(entry.recordedAt.description)
    json["user"] = .string(entry.user.description)
    json["event"] = .string(entry.event.description)
    json["stream"] = .string(streamName(entry))
    json["version"] = .integer(Int64(entry.version.rawValue))
    json["actor"] = .object(actor)
    json["detailsSHA256"] = .string(hexadecimal(entry.details.bytes))
    json["payloadSHA256"] = .string(hexadecimal(entry.payload.bytes))
    return json
  }

  private static func streamName(_ entry: LogEntry) -> String {
    Event.Stream(rawValue: Int16(entry.stream))?.name ?? "\(entry.stream)"
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
