import Clocks
import EventLoop
import Gateway
import Keys
import Logging
import Postgres
import Profiles
import Projections
import Synchronization

/// Runs in this process the rebuilds that were asked for over HTTP; what another process has left
/// behind goes on here.
///
/// Its connection also serves to look after the key file.
final class Rebuilder: Sendable {
  /// The pause between two looks for rebuilds.
  private static let interval = Duration.seconds(1)
  /// The pause before a rebuild that was interrupted goes on.
  private static let rest = Duration.seconds(5)

  private struct State {
    var isStopping = false
    /// The projections that are being rebuilt here.
    var running: [String: LoopThread] = [:]
    /// Projections whose rebuild was interrupted, and until when they are left alone.
    var resting: [String: Instant] = [:]
    var ended: [LoopThread] = []
  }

  private let target: String
  private let keyring: Keyring
  private let keyHealth: KeyHealth
  private let logger: Logger
  private let state = Mutex(State())
  private let woken = Semaphore()
  private let thread = Mutex<LoopThread?>(nil)

  /// Starts to look for rebuilds in a database that has the right schema.
  init(target: String, keyring: Keyring, keyHealth: KeyHealth, logger: Logger) throws {
    self.target = target
    self.keyring = keyring
    self.keyHealth = keyHealth
    self.logger = logger
    let started = try LoopThread(name: "rebuilder") { [self] in watch() }
    thread.withLock { $0 = started }
  }

  /// Tells running rebuilds to wait; the next process goes on with them.
  func stop() {
    state.withLock { $0.isStopping = true }
    woken.signal()
  }

  func join() {
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  private var isStopping: Bool { state.withLock { $0.isStopping } }

  private func watch() {
    var keys = KeyWatch(keyring, health: keyHealth, logger: logger)
    while !isStopping {
      do {
        let connection = try BlockingConnection(
          target: target,
          applicationName: "jejak rebuilder",
          setup: ["set role jejak_service"] + SessionDefaults.statements,
          patience: .seconds(10)
        )
        while !isStopping {
          try keys.look(connection)
          for rebuild in try RebuildOrders.due(connection) { start(rebuild) }
          reap()
          _ = woken.wait(atMost: Self.interval)
        }
      } catch {
        // The other connections tell what is wrong with the database.
        _ = woken.wait(atMost: Self.interval)
      }
    }
    let threads = state.withLock { Array($0.running.values) + $0.ended }
    for thread in threads { thread.join() }
  }

  /// Waits for the threads that are about to end.
  private func reap() {
    let ended = state.withLock { state in
      let ended = state.ended
      state.ended = []
      return ended
    }
    for thread in ended { thread.join() }
  }

  /// Runs a rebuild in a thread of its own, unless its projection is at it.
  private func start(_ rebuild: RebuildRecord) {
    let name = rebuild.projection
    state.withLock { state in
      guard !state.isStopping, state.running[name] == nil,
        state.resting[name, default: .now()] <= .now()
      else { return }
      // A thread that can't be had is asked for again with the next look.
      state.running[name] = try? LoopThread(name: "rebuild-\(name)") { [self] in
        run(rebuild)
        self.state.withLock { state in
          if let thread = state.running.removeValue(forKey: name) { state.ended.append(thread) }
        }
      }
    }
  }

  private func run(_ rebuild: RebuildRecord) {
    let (name, id) = (LogValue.string(rebuild.projection), LogValue.string("\(rebuild.id)"))
    do {
      let session = try Rebuild(
        target: target,
        keyring: keyring,
        setup: ["set role jejak_service"]
      )
      let result = try session.serve(rebuild) { (_: RebuildProgress) -> Bool in !isStopping }
      guard let result else { return }
      logger.notice(
        "a rebuild has come to rest",
        ["projection": name, "rebuild": id, "state": .string(result.state.rawValue)]
      )
    } catch {
      state.withLock { $0.resting[rebuild.projection] = .now() + Self.rest }
      let reason = (error as? BlockingConnection.Failure)?.safeDescription ?? "\(error)"
      logger.error(
        "a rebuild was interrupted",
        ["projection": name, "rebuild": id, "reason": .string(reason)]
      )
    }
  }
}
