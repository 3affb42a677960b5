import Accounts
import EventLog
import EventLoop
import Gateway
import Logging
import Postgres
import Synchronization

/// Keeps the list of erasures outside the database: adds to it what it lacks, at the start, after an
/// erasure by this process, and now and then, since others erase too.
final class ErasureKeeper: Sendable {
  /// Connections that it opens.
  static let connectionCount = 1
  /// The pause between two looks.
  private static let interval = Duration.seconds(5)

  private let target: String
  private let list: ErasureList
  private let health: ErasureHealth
  private let logger: Logger
  private let isStopping = Atomic(false)
  private let woken = Semaphore()
  private let thread = Mutex<LoopThread?>(nil)

  /// Starts to keep `list` for a database that has the right schema.
  init(target: String, list: ErasureList, health: ErasureHealth, logger: Logger) throws {
    self.target = target
    self.list = list
    self.health = health
    self.logger = logger
    let started = try LoopThread(name: "erasures") { [self] in keep() }
    thread.withLock { $0 = started }
  }

  /// Says that somebody has been erased; from any thread.
  func wake() { woken.signal() }

  /// Lists what is not listed yet, and ends; `join` waits for that.
  func stop() {
    isStopping.store(true, ordering: .releasing)
    woken.signal()
  }

  func join() {
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  private func keep() {
    var isTold = false
    var owed: Int?
    while true {
      do {
        let connection = try BlockingConnection(
          target: target,
          applicationName: "jejak erasures",
          setup: ["set role jejak_service"] + SessionDefaults.statements,
          patience: .seconds(10)
        )
        var position = Position.start
        while true {
          let isLast = isStopping.load(ordering: .acquiring)
          // An earlier state of the database: what was known of it is no longer so.
          if try Erasures.last(connection) < position { (position, owed) = (.start, nil) }
          // Once, and after that until nobody is owed an erasure any more.
          if owed != 0 { owed = try findOwed(connection, before: owed) }
          if !list.exists { position = .start }
          // A stop doesn't wait once more for a lock that nobody got.
          let patience = isLast && isTold ? Duration.zero : ErasureList.lockPatience
          position = try Erasures.each(after: position, connection) {
            try list.add($0, patience: patience)
          }
          if isTold { logger.notice("the list of erasures is written again") }
          isTold = false
          health.set(unlisted: nil)
          if isLast { return }
          rest()
        }
      } catch {
        // Of the database the other connections tell; that the list is kept must be known.
        if let failure = error as? ErasureList.Failure {
          health.set(unlisted: failure.description)
          if !isTold {
            logger.error("erasures are not listed", ["reason": .string(failure.description)])
          }
          isTold = true
        }
        if isStopping.load(ordering: .acquiring) { return }
        rest()
      }
    }
  }

  /// How many people the database holds who had been erased, which is said when it is found: it was
  /// put back to an earlier state.
  private func findOwed(
    _ connection: borrowing BlockingConnection,
    before: Int?
  ) throws -> Int {
    // A line that was cut short is taken off when the next one is added.
    let listed = try list.read(mends: true).map(\.user)
    var owed = 0
    for start in stride(from: 0, to: listed.count, by: Int(Erasures.pageLength)) {
      let users = Array(listed[start..<min(start + Int(Erasures.pageLength), listed.count)])
      owed += try Erasures.owed(users, connection).count
    }
    health.set(owed: owed)
    if owed > 0 && before == nil {
      logger.error(
        "people who were erased are here again; run jejak backup-check --replay",
        ["owed": .integer(owed)]
      )
    }
    return owed
  }

  /// Waits for the next look, and takes all signals of before for one.
  private func rest() {
    guard woken.wait(atMost: Self.interval) else { return }
    while woken.wait(atMost: .zero) {}
  }
}

/// Holds the keeper, which there is as soon as the database is ready.
final class ErasureKeeping: Sendable {
  private let held = Mutex<ErasureKeeper?>(nil)

  var keeper: ErasureKeeper? {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}
