import EventLoop
import Gateway
import Logging
import Notary
import Settings

/// The notary of this process: its key, its log lines, and what `/readyz` says of it.
final class Signing: Sendable {
  private let notary: Notary

  /// Starts the notary on a database that has the right schema.
  init(_ key: SigningKey, target: String, health: NotaryHealth, logger: Logger) throws {
    notary = try Notary(
      target: target,
      signer: key.signer,
      keyFile: key.file,
      checkpointFile: key.checkpointFile
    ) { report in
      switch report {
      case .state(let state):
        let before = health.set(state)
        guard state != before else { return }
        switch state {
        case .signs: logger.notice("the log is signed again")
        case .waitsForSealing: logger.notice("the log is signed once all payloads are sealed")
        case .refuses(let refusal):
          logger.error(
            "the log is no longer signed",
            ["code": .string(refusal.code), "reason": .string(refusal.description)]
          )
        }
      case .hindered(let reason):
        logger.warning("the notary waits", ["reason": .string(reason)])
      case .disconnected(let reason):
        logger.warning("database connection", ["reason": .string(reason)])
      }
    }
  }

  func stop() { notary.stop() }

  func join() { notary.join() }
}
