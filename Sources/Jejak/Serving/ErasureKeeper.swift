import Accounts
import EventLog
import EventLoop
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
  private let logger: Logger
  private let isStopping = Atomic(false)
  private let woken = Semaphore()
  private let thread = Mutex<LoopThread?>(nil)

  /// Starts to keep `list` for a database that has the right schema.
  init(target: String, list: ErasureList, logger: Logger) throws {
    self.target = target
    self.list = list
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
    var isChecked = false
    while true {
      do {
        let connection = try BlockingConnection(
          target: target,
          applicationName: "jejak erasures",
          setup: ["set role jejak_service"] + SessionDefaults.statements,
          patience: .seconds(10)
        )
        if !isChecked { try tellOwed(connection) }
        isChecked = true
        var position = Position.start
        while true {
          let isLast = isStopping.load(ordering: .acquiring)
          position = try Erasures.each(after: position, connection) { try list.add($0) }
          if isTold { logger.notice("the list of erasures is written again") }
          isTold = false
          if isLast { return }
          rest()
        }
      } catch {
        // Of the database the other connections tell; that the list is kept must be known.
        if let failure = error as? ErasureList.Failure, !isTold {
          logger.error("erasures are not listed", ["reason": .string(failure.description)])
          isTold = true
        }
        if isStopping.load(ordering: .acquiring) { return }
        rest()
      }
    }
  }

  /// Says so where the database holds people who had been erased: it was put back to an earlier state.
  private func tellOwed(_ connection: borrowing BlockingConnection) throws {
    let listed = try list.read().map(\.user)
    var owed = 0
    for start in stride(from: 0, to: listed.count, by: Int(Erasures.pageLength)) {
      let users = Array(listed[start..<min(start + Int(Erasures.pageLength), listed.count)])
      owed += try Erasures.owed(users, connection).count
    }
    guard owed > 0 else { return }
    logger.error(
      "people who were erased are here again; run jejak backup-check --replay",
      ["owed": .integer(owed)]
    )
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
