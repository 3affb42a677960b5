import Clocks
import EventLog
import EventLoop
public import Keys
import Postgres
import Profiles

/// Builds a projection anew from the log, while everything goes on.
///
/// The log up to the position at the start never changes, so it is folded by ranges, each in a
/// transaction of its own, by several threads, into a shadow table. Then the shadow gets its
/// indexes, what has been appended since is applied, the shadow is verified, and the tables are
/// exchanged in one transaction. A process that is killed loses the ranges it was at; the next one
/// goes on from there. Until the exchange the live table is not touched.
public struct Rebuild: ~Copyable {
  /// The pause between two looks at what is wanted.
  private static let interval = Duration.milliseconds(200)
  /// How long whoever begins waits for another process to let go.
  private static let patience = Duration.seconds(1)

  private let connect: RebuildConnect
  private let session: BlockingConnection

  /// Rebuilds with connections to `target` that each begin with `setup`.
  public init(target: String, keyring: Keyring, setup: [String] = []) throws {
    connect = RebuildConnect(target: target, keyring: keyring, setup: setup)
    session = try connect.open()
  }

  /// What `begin` has found.
  public struct Begun: Sendable {
    /// The rebuild, which this process holds.
    public let rebuild: RebuildRecord
    /// Whether it had begun before, and goes on.
    public let isResumed: Bool
  }

  /// Takes over the open rebuild of a projection, or begins one; throws where another process is
  /// at it.
  ///
  /// One that was begun for another revision of the definition is given up first.
  public func begin(
    _ projection: any Projection.Type,
    _ options: RebuildOptions
  ) throws -> Begun {
    var isLocked = try RebuildLease.lock(projection.name, session)
    // The session of a process that has just ended may be about to end.
    let deadline = Instant.now() + Self.patience
    while !isLocked, .now() < deadline {
      try session.script("select pg_sleep(0.05)")
      isLocked = try RebuildLease.lock(projection.name, session)
    }
    if let open = try RebuildRecord.open(of: projection.name, session) {
      guard try RebuildLease.take(open.id, connect, isLocked: isLocked, session) else {
        throw ProjectionError.busy(projection.name)
      }
      if open.revision == projection.revision {
        guard open.isDryRun == options.isDryRun else {
          try RebuildLease.release(open.id, connect, session)
          throw ProjectionError.impossible(
            """
            another rebuild of \(projection.name) waits: first let it go on with \
            jejak projection resume \(projection.name), or give it up with \
            jejak projection cancel \(projection.name)
            """
          )
        }
        try RebuildOrders.adopt(open.id, options, session)
        return Begun(rebuild: try record(open.id), isResumed: true)
      }
      try giveUp(open)
    } else if !isLocked {
      throw ProjectionError.busy(projection.name)
    }
    let id = try RebuildOrders.insert(projection, options, session)
    guard try RebuildLease.take(id, connect, isLocked: true, session) else {
      throw ProjectionError.busy(projection.name)
    }
    return Begun(rebuild: try record(id), isResumed: false)
  }

  /// Takes over an open rebuild, as it is; nil where another process is at it.
  public func takeOver(_ rebuild: RebuildRecord) throws -> RebuildRecord? {
    let isLocked = try RebuildLease.lock(rebuild.projection, session)
    guard try RebuildLease.take(rebuild.id, connect, isLocked: isLocked, session) else {
      return nil
    }
    return try record(rebuild.id)
  }

  /// Takes over a rebuild that is the service's and nobody's at the moment: gives it up where that
  /// is wanted, begins anew where the definition has another revision by now, and runs it; nil
  /// where another process was faster, or there is nothing to run.
  public func serve(
    _ rebuild: RebuildRecord,
    observe: (RebuildProgress) -> Bool
  ) throws -> RebuildRecord? {
    guard let projection = ReadModels.named(rebuild.projection),
      let held = try takeOver(rebuild)
    else { return nil }
    if held.wanted == "cancel" {
      try giveUp(held)
      return try record(held.id)
    }
    guard held.revision != projection.revision else {
      return try run(held, of: projection, observe: observe)
    }
    var options = RebuildOptions()
    options.workers = held.workers
    options.throttle = held.throttle
    options.isDryRun = held.isDryRun
    options.isInService = true
    try giveUp(held)
    _ = try RebuildOrders.insert(projection, options, session)
    return nil
  }

  /// Runs the rebuild that this process holds until it ends, or until `observe`, which is called
  /// several times a second, answers false; what has become of it.
  ///
  /// An error of the work is noted in the table, then thrown; a dry run ends with it.
  public func run(
    _ rebuild: RebuildRecord,
    of projection: any Projection.Type,
    observe: (RebuildProgress) -> Bool
  ) throws -> RebuildRecord {
    let control = RebuildControl()
    control.set(throttle: rebuild.throttle)
    control.begin(done: rebuild.eventsDone, total: rebuild.eventsTotal)
    let begin = Instant.now()
    let thread = try Self.work(projection, rebuild, connect, control)
    var wanted = "run"
    var eventsBefore: Int64?
    while !control.ended.wait(atMost: Self.interval) {
      do {
        let wishes = try RebuildLease.renew(
          rebuild,
          connect,
          control,
          working: .now() - begin,
          session
        )
        if let wishes {
          wanted = wishes.wanted
          control.set(throttle: wishes.throttle)
          if wanted != "run" { control.stop() }
        } else if control.phase != .done {
          control.fail(ProjectionError.busy(rebuild.projection))
        }
      } catch {
        control.fail(error)
      }
      if control.phase == .folding, eventsBefore == nil { eventsBefore = control.done }
      let progress = Self.progress(control, since: begin, eventsBefore ?? control.done)
      if !observe(progress) { control.stop() }
    }
    thread.join()
    return try end(rebuild, control, working: .now() - begin, wanted)
  }

  private static func progress(
    _ control: RebuildControl,
    since begin: Instant,
    _ eventsBefore: Int64
  ) -> RebuildProgress {
    let (seconds, attoseconds) = (Instant.now() - begin).components
    let time = Double(seconds) + Double(attoseconds) / 1e18
    return RebuildProgress(
      phase: control.phase,
      eventsDone: control.done,
      eventsTotal: control.total,
      rate: time > 0 ? Double(max(0, control.done - eventsBefore)) / time : 0
    )
  }

  /// Starts the thread that does the work.
  private static func work<P: Projection>(
    _: P.Type,
    _ rebuild: RebuildRecord,
    _ connect: RebuildConnect,
    _ control: RebuildControl
  ) throws -> LoopThread {
    try LoopThread(name: "rebuild") {
      do {
        var work = try RebuildWork<P>(rebuild, connect, control)
        try work.run()
      } catch {
        control.fail(error)
      }
      control.ended.signal()
    }
  }

  /// Notes how the work has ended, and lets go of the rebuild.
  private func end(
    _ rebuild: RebuildRecord,
    _ control: RebuildControl,
    working: Duration,
    _ wanted: String
  ) throws -> RebuildRecord {
    if let failure = control.failure {
      // Where the database has gone, nothing is wrong with the rebuild.
      let isLost = (failure as? BlockingConnection.Failure)?.isConnectionLost ?? false
      if !isLost {
        // Another process may have it by now; the error is told either way.
        try? RebuildOrders.fail(rebuild.id, connect, Self.reason(of: failure), session)
        // A dry run has told what there is to tell; it must not stand in the way of the next.
        if rebuild.isDryRun { try? giveUp(rebuild) }
      }
      try? RebuildLease.release(rebuild.id, connect, session)
      throw failure
    }
    _ = try RebuildLease.renew(rebuild, connect, control, working: working, session)
    if wanted == "cancel", try record(rebuild.id).isOpen { try giveUp(rebuild) }
    try RebuildLease.release(rebuild.id, connect, session)
    return try record(rebuild.id)
  }

  /// The words for an error that others may read.
  private static func reason(of failure: any Error) -> String {
    (failure as? BlockingConnection.Failure)?.safeDescription ?? "\(failure)"
  }

  /// Drops the shadow and ends the rebuild, which this process holds.
  public func giveUp(_ rebuild: RebuildRecord) throws {
    try session.transaction { () throws -> Void in
      try RebuildLease.check(rebuild, connect, exclusive: true, session)
      try RebuildOrders.cancel(rebuild, session)
    }
  }

  private func record(_ id: RebuildID) throws -> RebuildRecord {
    guard let found = try RebuildRecord.find(id, session) else {
      throw ProjectionError.impossible("the rebuild \(id) is gone")
    }
    return found
  }
}
