import MerkleTree
import Notary
import Projections
import Settings
import Verification

/// The command `jejak verify`.
enum VerifyCommand: Command {
  static let names = ["verify"]
  static let syntax = CommandSyntax(
    usage: "jejak verify [--checkpoint FILE] [--key KEY] [--workers N] [--json]",
    summary: "Holds the log and what stands beside it against itself and against what was signed, "
      + "while the service goes on. Names what is wrong, with status 1 if anything is.",
    options: [
      CommandOption(
        "checkpoint",
        "FILE",
        help: "A checkpoint that was kept elsewhere: the log has to have grown out of it. That of "
          + "--checkpoint-file is taken too."
      ),
      CommandOption(
        "key",
        "KEY",
        help: "The public key, name+id+key, that the log should be signed with; unless given that "
          + "of the signing key's file, if there is one."
      ),
      CommandOption("workers", "N", help: "Threads that verify; one for each core unless given."),
      CommandOption("json", help: "Print JSON."),
    ] + Settings.databaseOptions
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let workers = try arguments.number("workers", atMost: RebuildOptions.workerLimit)
    let key = try arguments["key"].map { text in
      guard let key = NoteVerifier(text) else {
        throw UsageError("--key: expected a public key of the form name+id+key, not '\(text)'")
      }
      return key
    }
    let settings = try Settings(arguments)
    return try Database.withReady(settings) { database in
      var verification = Verification(
        target: database.target,
        keyring: try database.keyring(checks: false),
        workers: Int(workers ?? RebuildOptions.defaultWorkers)
      )
      verification.key = try key ?? ownKey(settings)
      // Before the log is looked at: the service may write a newer one meanwhile.
      verification.outside = try outside(arguments["checkpoint"], settings)
      let report = try run(verification)
      if arguments.has("json") {
        Output.write(report.json)
      } else {
        Output.write(report.text)
      }
      return report.findings == 0 ? .success : .failure
    }
  }

  private static func run(_ verification: Verification) throws -> VerificationReport {
    var progress: (part: Verification.Part, line: Progress)?
    let report = try verification.run { part, done, total in
      if progress?.part != part {
        progress?.line.end()
        progress = (part, Progress("verifying \(part.rawValue)", unit: "events"))
      }
      progress?.line.show(done, total)
    }
    progress?.line.end()
    return report
  }

  /// The public key of the service's own signing key; nil where there is none, as on a machine that
  /// doesn't serve.
  private static func ownKey(_ settings: Settings) throws -> NoteVerifier? {
    guard settings.signingKeyFile != nil || settings.databaseURL == nil else { return nil }
    let file = try SigningKey.file(settings)
    do throws(PrivateFile.Failure) {
      return try file.read().verifier
    } catch {
      if error.isMissing { return nil }
      throw CommandError("the signing key can't be used: \(error)")
    }
  }

  private static func outside(
    _ given: String?,
    _ settings: Settings
  ) throws -> [OutsideCheckpoint] {
    var checkpoints: [OutsideCheckpoint] = []
    if let given { checkpoints.append(try read(given)) }
    if let own = SigningKey.checkpointFile(settings), own != given {
      do {
        checkpoints.append(try read(own))
      } catch let failure as PrivateFile.Failure where failure.isMissing {
        // Nothing was signed yet, or it is kept on another machine.
      }
    }
    return checkpoints
  }

  private static func read(_ path: String) throws -> OutsideCheckpoint {
    let bytes = try PrivateFile.read(path, isSecret: false)
    guard let checkpoint = OutsideCheckpoint(bytes) else {
      throw CommandError("\(path) is no checkpoint")
    }
    return checkpoint
  }
}
