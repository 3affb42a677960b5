import Files
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
    summary: "Holds the log, and what stands beside it, against what was signed and itself.\n"
      + "The service may go on meanwhile. Names what is wrong, with status 1 if anything is.",
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
    let key = try arguments["key"].map { try PublicKeys.parse($0)[0] }
    let settings = try Settings(arguments)
    return try Database.withReady(settings) { database in
      var verification = Verification(
        target: database.target,
        keyring: try database.keyring(checks: false),
        workers: Int(workers ?? RebuildOptions.defaultWorkers)
      )
      verification.key = try key ?? SigningKey.verifier(settings)
      // Before the log is looked at: the service may write a newer one meanwhile.
      verification.outside = try outside(arguments["checkpoint"], settings)
      let report = try verification.runShowingProgress()
      if arguments.has("json") {
        Output.write(report.json)
      } else {
        Output.write(report.text)
      }
      return report.findings == 0 ? .success : .failure
    }
  }

  private static func outside(
    _ given: String?,
    _ settings: Settings
  ) throws -> [OutsideCheckpoint] {
    var checkpoints: [OutsideCheckpoint] = []
    if let given { checkpoints.append(try OutsideCheckpoint(file: given)) }
    if let own = SigningKey.checkpointFile(settings), own != given {
      do {
        checkpoints.append(try OutsideCheckpoint(file: own))
      } catch let failure as SmallFileError where failure.isMissing {
        // Nothing was signed yet, or it is kept on another machine.
      }
    }
    return checkpoints
  }
}
