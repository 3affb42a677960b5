import Accounts
import Clocks
import EmbeddedPostgres
import EventLog
import EventLoop
import Gateway
import Glibc
import HTTP
import Keys
import Logging
import Network
import Notary
import Postgres
import Profiles
import Projections
import Settings

/// The running service: one `ServingLoop` for each core, and this thread, which waits for signals
/// and looks after the database.
final class Service {
  /// Sign-ins and password changes that may wait for a hash.
  private static let hashQueueLimit = 256
  /// Operators' requests about projections that are carried out at a time, and that may wait.
  private static let deskThreads = 2
  private static let deskQueueLimit = 64
  /// Pauses between looks for a database that can't be reached.
  private static let firstPause = Duration.milliseconds(100)
  private static let longestPause = Duration.seconds(5)
  /// The pause between two log lines about a log that is being sealed.
  private static let sealingPause = Duration.seconds(5)
  /// Seconds between two tidyings of what has outlived its time.
  private static let tidyInterval = 600

  private let settings: Settings
  private let logger: Logger
  private let database: Database
  private let listener: Listener
  private let keyring: Keyring
  private let shared: Gateway.Shared
  private let pool: WorkerPool
  private let chains: Chains
  private let tail: LogTail
  private let loops: [ServingLoop]
  /// The runner of the projections, from when the database is ready.
  private var followers: Followers?
  /// The rebuilds that the service runs, from when the database is ready.
  private var rebuilder: Rebuilder?
  /// What the log is signed with.
  private let signingKey: SigningKey
  /// The notary, from when the database is ready.
  private var signing: Signing?
  /// Keeps the list of erasures, from when the database is ready, where there is a place for one.
  private let erasures: ErasureKeeping
  /// The threads in which operators' requests about projections are carried out.
  private let deskPool: WorkerPool

  init(_ settings: Settings, schema: ProfileSchema) throws {
    self.settings = settings
    let logger = Logger(format: settings.logFormat, level: settings.logLevel)
    self.logger = logger
    StopSignals.block()
    OpenFiles.raiseLimit()
    guard let passwords = PasswordPolicy(minimumLength: settings.passwordMinimumLength) else {
      throw UsageError("JEJAK_PASSWORD_MIN_LENGTH is out of range")
    }
    let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let count = settings.loops ?? cores
    // A taken port is told before a database is started.
    do {
      listener = try Listener(
        host: settings.listen.host.description,
        port: settings.listen.port,
        count: count
      )
    } catch {
      throw CommandError("can't listen on \(settings.listen): \(error)")
    }
    // So is a key file that can't be read.
    if let path = settings.masterKeyFile { _ = try MasterKeys(file: path) }
    if settings.databaseURL != nil { _ = try SigningKey.file(settings) }
    let database = try Database(settings, create: true)
    self.database = database
    do {
      keyring = Keyring(file: try database.masterKeyFile())
      signingKey = try SigningKey(settings)
    } catch {
      _ = try? database.close()
      throw error
    }
    if signingKey.isNew {
      logger.warning(
        "made a key that signs the log; keep a copy of it",
        ["file": .string(signingKey.file.path)]
      )
    }
    deskPool = try WorkerPool(threads: Self.deskThreads, queueLimit: Self.deskQueueLimit)
    pool = try WorkerPool(threads: cores, queueLimit: Self.hashQueueLimit)
    let hashing = PasswordHashing(pool: pool)
    let rules = Accounts.Rules(
      schema: schema,
      passwords: passwords,
      lifetimes: SessionLifetimes(idle: settings.sessionIdle, absolute: settings.sessionMax)
    )
    let eventLoops = try listener.sockets.map { _ in try EventLoop() }
    let erasures = ErasureKeeping()
    self.erasures = erasures
    tail = LogTail(loop: eventLoops[0], target: database.serviceTarget) { reason in
      logger.warning("database connection", ["reason": .string(reason)])
    }
    let proxies = settings.trustedProxies
    shared = Gateway.Shared(
      readiness: Readiness(),
      tail: tail,
      projectionDesk: ProjectionDesk(
        target: database.serviceTarget,
        keyring: keyring,
        pool: deskPool
      ),
      erased: { erasures.keeper?.wake() },
      note: { requestID, message in
        logger.notice("request ended", ["request": .string(requestID), "reason": .string(message)])
      },
      isTrustedProxy: { proxies.contains(address: $0) },
      report: { requestID, message in
        logger.error("request failed", ["request": .string(requestID), "reason": .string(message)])
      }
    )
    chains = Chains(
      loop: eventLoops[0],
      target: database.serviceTarget,
      readiness: shared.readiness
    ) { reason in
      logger.warning("database connection", ["reason": .string(reason)])
    }
    var loops: [ServingLoop] = []
    for (number, loop) in eventLoops.enumerated() {
      loops.append(
        try ServingLoop(
          loop,
          number: number,
          socket: listener.sockets[number],
          target: database.serviceTarget,
          chains: chains,
          hashing: hashing,
          keyring: keyring,
          rules: rules,
          shared: shared,
          logger: logger
        )
      )
    }
    self.loops = loops
  }

  /// Serves until a signal says stop.
  func run() throws -> ExitStatus {
    var status = ExitStatus.success
    do {
      if try prepareDatabase() { watch() }
    } catch {
      logger.error("the database can't be used", ["reason": .string("\(error)")])
      status = .failure
    }
    logger.info("stopping")
    stop()
    pool.close()
    try database.close()
    logger.info("stopped")
    return status
  }

  /// Every loop is drained before any ends: they append through one of them.
  private func stop() {
    followers?.stop()
    rebuilder?.stop()
    signing?.stop()
    let drained = Semaphore()
    for loop in loops { loop.drain(within: settings.shutdownGrace) { drained.signal() } }
    for _ in loops { drained.wait() }
    chains.close()
    tail.close()
    for loop in loops { loop.stop() }
    for loop in loops { loop.join() }
    followers?.join()
    rebuilder?.join()
    signing?.join()
    // After the last request: what it erased is listed.
    erasures.keeper?.stop()
    erasures.keeper?.join()
    deskPool.close()
  }

  /// Says where it listens, as soon as nothing is known that it can never serve.
  private func announce() {
    Output.write("jejak: listening on http://\(authority)\n")
  }

  private var authority: String {
    let host = settings.listen.host
    return host.isV6 ? "[\(host)]:\(listener.port)" : "\(host):\(listener.port)"
  }

  /// Waits until the database is there and has the right schema; false where a signal came first.
  private func prepareDatabase() throws -> Bool {
    var pause = Self.firstPause
    var isAnnounced = false
    while true {
      do {
        let applied = try Preflight.run(
          database.target,
          migrate: settings.migrate,
          connections: loops.count * Connections.count + Chains.connectionCount
            + LogTail.connectionCount + Runner.connectionCount + Notary.connectionCount
            + (settings.erasureListPath == nil ? 0 : ErasureKeeper.connectionCount)
        )
        for name in applied { logger.info("migrated", ["name": .string(name)]) }
        try openKeyring()
        guard try seal() else { return false }
        // Where that fails the keeper tells, as soon as there is an erasure to list.
        try? database.beginErasureList()
        chains.open()
        tail.open()
        for loop in loops { loop.openConnections() }
        followers = try Followers(
          target: database.serviceTarget,
          keyring: keyring,
          health: shared.projectionHealth,
          logger: logger
        )
        rebuilder = try Rebuilder(
          target: database.serviceTarget,
          keyring: keyring,
          keyHealth: shared.keyHealth,
          logger: logger
        )
        signing = try Signing(
          signingKey,
          target: database.serviceTarget,
          health: shared.notaryHealth,
          logger: logger
        )
        if signingKey.checkpointFile == nil {
          logger.notice(
            "no checkpoint is kept outside the database; set JEJAK_CHECKPOINT_FILE"
          )
        }
        if let path = settings.erasureListPath {
          let list = ErasureList(path: path)
          erasures.keeper = try ErasureKeeper(
            target: database.serviceTarget,
            list: list,
            health: shared.erasureHealth,
            logger: logger
          )
        } else {
          logger.notice(
            "no list of erasures is kept outside the database; set JEJAK_ERASURE_FILE"
          )
        }
        if !isAnnounced { announce() }
        logger.info("serving", ["address": .string(authority)])
        return true
      } catch let unreachable as Preflight.Unreachable {
        if !isAnnounced { announce() }
        isAnnounced = true
        logger.warning("no database yet", ["reason": .string(unreachable.reason)])
      }
      if StopSignals.wait(atMost: pause) { return false }
      pause = min(pause * 2, Self.longestPause)
    }
  }

  private func openKeyring() throws {
    try Preflight.open(keyring, of: database) { path in
      logger.warning(
        "made master keys; keep a copy apart from the database",
        ["file": .string(path)]
      )
    }
  }

  /// Seals a log that was begun before payloads were sealed; false where a signal came first.
  private func seal() throws -> Bool {
    guard try Preflight.hasPlainPayloads(database, migrate: settings.migrate) else { return true }
    logger.notice("seals the log, which was begun before payloads were sealed")
    var told = Instant.now()
    let outcome = try Preflight.reaching {
      try database.seal { done, total in
        if Instant.now() - told > Self.sealingPause {
          told = .now()
          logger.info(
            "seals the log",
            ["position": .integer(Int(done)), "last": .integer(Int(total))]
          )
        }
        return !StopSignals.wait(atMost: .zero)
      }
    }
    if case .stopped = outcome { return false }
    if case .sealed(let count) = outcome {
      logger.notice("the log is sealed", ["events": .integer(Int(count))])
    }
    // From now on nothing is read that is not sealed.
    try openKeyring()
    return true
  }

  /// Keeps the embedded database running and its tables tidy, until a signal says stop.
  private func watch() {
    var seconds = 0
    while !StopSignals.wait(atMost: .seconds(1)) {
      do {
        try database.lease?.ensureRunning()
      } catch {
        logger.error("the database is down", ["reason": .string("\(error)")])
      }
      if seconds % Self.tidyInterval == 0 { loops.first?.tidy() }
      seconds += 1
    }
  }
}
