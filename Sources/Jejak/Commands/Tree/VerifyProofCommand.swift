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
      + "It needs neither the service nor its database. FILE may be -, standard input. Status 1: "
      + "the proof proves nothing.",
    options: [
      CommandOption(
        "key",
        "KEY",
        help: "The log's public key, name+id+key, from somebody you trust, or several, one a line; "
          + "unless given that of the signing key's file."
      ),
      CommandOption("json", help: "Print JSON."),
    ] + Settings.databaseOptions,
    operands: 1...1
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let path = arguments.operands[0]
    let verifiers = try verifiers(arguments)
    let bytes = try read(path)
    guard let proof = TreeProof(bytes) else { throw CommandError("\(path) is no tlog-proof") }
    let extra = proof.extra ?? []
    let leaf = Array(extra.prefix(LogEntry.byteCount))
    guard let entry = LogEntry(leaf) else {
      throw CommandError("\(path) doesn't say which event it is about")
    }
    guard entry.index == proof.index else {
      throw CommandError(
        "\(path) says a wrong place: its index is \(proof.index), and its event has position "
          + "\(entry.position), which is index \(entry.index)"
      )
    }
    let checkpoint = try verify(proof, of: leaf, in: path, by: verifiers)
    // Behind the entry, and not in the tree itself: the entry has their digest.
    guard let details = LogDetails(extra.dropFirst(leaf.count)), details.digest == entry.details
    else { throw CommandError("the details in \(path) are not those of its event") }
    Output.write(
      arguments.has("json")
        ? String(decoding: JSON.object(json(entry, details, checkpoint)).bytes, as: UTF8.self)
          + "\n"
        : text(entry, details, checkpoint)
    )
    return .success
  }

  private static func read(_ path: String) throws -> [UInt8] {
    if path == StandardInput.operand {
      return try StandardInput.read(limit: SignedNote.byteLimit)
    }
    do throws(SmallFileError) {
      return try SmallFile.read(path, for: .everybody)
    } catch {
      throw CommandError("\(error)")
    }
  }

  /// The checkpoint, which any of `verifiers` has signed: a log may have had several keys.
  private static func verify(
    _ proof: TreeProof,
    of leaf: [UInt8],
    in path: String,
    by verifiers: [NoteVerifier]
  ) throws -> Checkpoint {
    for verifier in verifiers {
      do throws(TreeProof.Flaw) {
        return try proof.verify(entry: leaf, by: verifier)
      } catch .checkpoint {
        continue
      } catch {
        throw CommandError("the event in \(path) is not in the log of its checkpoint")
      }
    }
    let names = verifiers.map { "\($0.name)'s" }.joined(separator: " or ")
    throw CommandError("the checkpoint in \(path) is not signed by \(names) key")
  }

  private static func verifiers(_ arguments: CommandArguments) throws -> [NoteVerifier] {
    if let text = arguments["key"] { return try PublicKeys.parse(text) }
    let settings = try Settings(arguments)
    guard let file = try? SigningKey.file(settings), let signer = try? file.read() else {
      throw UsageError("--key: say which key the log is signed with")
    }
    return [signer.verifier]
  }

  private static func text(
    _ entry: LogEntry,
    _ details: LogDetails,
    _ checkpoint: Checkpoint
  ) -> String {
    let fields = details.changed.isEmpty ? "-" : details.changed.joined(separator: ", ")
    return """
      proven: the log \(checkpoint.origin) has this event among its first \(checkpoint.size)
      position     \(entry.position)
      recorded at  \(entry.recordedAt)
      user         \(entry.user)
      event        \(entry.event)
      type         \(HistoryText.visible(details.type))
      fields       \(HistoryText.visible(fields))
      stream       \(streamName(entry))
      version      \(entry.version)
      actor        \(entry.actor.kindName)\(entry.actorID.map { " \($0)" } ?? "")
      request      \(details.requestID.map(HistoryText.visible) ?? "-")
      trace        \(details.traceID.map(HistoryText.visible) ?? "-")
      payload      \(payload(entry))

      """
  }

  /// An event that has none, such as an erasure, has the digest of nothing.
  private static func payload(_ entry: LogEntry) -> String {
    entry.payload.bytes == SHA256.digest(of: [])
      ? "no payload" : "sha256:\(hexadecimal(entry.payload.bytes)), sealed"
  }

  private static func json(
    _ entry: LogEntry,
    _ details: LogDetails,
    _ checkpoint: Checkpoint
  ) -> JSONObject {
    var actor: JSONObject = ["kind": .string(entry.actor.kindName)]
    actor["id"] = entry.actorID.map { .string($0.description) } ?? .null
    var json: JSONObject = [:]
    json["origin"] = .string(checkpoint.origin)
    json["size"] = .integer(checkpoint.size)
    json["position"] = .integer(entry.position.rawValue)
    json["recordedAt"] = .string(entry.recordedAt.description)
    json["user"] = .string(entry.user.description)
    json["event"] = .string(entry.event.description)
    json["type"] = .string(details.type)
    json["changed"] = .array(details.changed.map(JSON.string))
    json["requestId"] = details.requestID.map(JSON.string) ?? .null
    json["traceId"] = details.traceID.map(JSON.string) ?? .null
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
