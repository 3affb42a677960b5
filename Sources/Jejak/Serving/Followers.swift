import Clocks
import EventLog
import Gateway
import Keys
import Logging
import Postgres
import Projections
import Synchronization

/// The runner of this process: its log lines, and what `/readyz` says of the projections.
final class Followers: Sendable {
  /// How long a follower may take nothing in while there is something, whatever the reason.
  private static let patience = Duration.seconds(30)

  /// Where a follower stood when it last went on, or held all there was.
  private struct Progress {
    let position: Position
    let time: Instant
  }

  private let runner: Runner

  /// Starts the runner on a database that has the right schema.
  init(target: String, keyring: Keyring, health: ProjectionHealth, logger: Logger) throws {
    // Told once; the list goes on saying it.
    let toldRevisions = Mutex<Set<String>>([])
    let progress = Mutex<[String: Progress]>([:])
    runner = try Runner(target: target, keyring: keyring, projections: ReadModels.all) { report in
      switch report {
      case .states(let states):
        let now = Instant.now()
        health.set(
          states.compactMap { state in
            let isBehind = progress.withLock { progress in
              let last = progress[state.name]
              progress[state.name] =
                state.lag == 0 || last?.position != state.position
                ? Progress(position: state.position, time: now) : last
              return progress[state.name].map { now - $0.time > Self.patience } ?? false
            }
            return state.trouble(isBehind: isBehind)
          }
        )
        for state in states where state.revision != state.definedRevision {
          guard toldRevisions.withLock({ $0.insert(state.name).inserted }) else { continue }
          logger.warning(
            "a projection's definition has changed; a rebuild is due",
            [
              "projection": .string(state.name), "revision": .integer(Int(state.revision)),
              "defined": .integer(Int(state.definedRevision)),
            ]
          )
        }
      case .leads(true): logger.info("runs the projections")
      case .leads(false): logger.info("no longer runs the projections")
      case .stopped(let name, let position, let reason):
        logger.error(
          "a projection has stopped",
          [
            "projection": .string(name), "position": .integer(Int(position.rawValue)),
            "reason": .string(reason),
          ]
        )
      case .resumed(let name, let position):
        logger.notice(
          "a projection goes on",
          ["projection": .string(name), "position": .integer(Int(position.rawValue))]
        )
      case .hindered(let name, let reason):
        logger.warning(
          "a projection waits",
          ["projection": .string(name), "reason": .string(reason)]
        )
      case .disconnected(let reason):
        logger.warning("database connection", ["reason": .string(reason)])
      }
    }
  }

  func stop() { runner.stop() }

  func join() { runner.join() }
}

extension ProjectionState {
  /// What `/readyz` says of it; nil where all is well.
  fileprivate func trouble(isBehind: Bool) -> ProjectionHealth.Trouble? {
    let isBehind = isBehind && condition != .stopped
    guard condition != .running || isBehind else { return nil }
    return .init(
      name: name,
      state: isBehind ? "behind" : condition.rawValue,
      isDegraded: condition == .stopped || isBehind,
      position: position.rawValue,
      lag: lag,
      error: stop.map { ($0.position.rawValue, $0.reason) }
    )
  }
}
