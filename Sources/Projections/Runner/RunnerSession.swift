import Clocks
import EventLog
import EventLoop
import Keys
import Postgres

/// The work of the runner on one connection, round by round, until the connection is lost.
struct RunnerSession: ~Copyable {
  /// How one follower has fared lately.
  private struct Fortune {
    /// Events in its next batch.
    var batch: Int
    /// Failures in a row that will pass.
    var failures = 0
    /// It is left alone until then.
    var restsUntil = Instant.now()
    /// Whether it tries the event it has stopped at once more: once at the begin of each term.
    var retries = false
  }

  private let connection: BlockingConnection
  private let followers: [any Projection.Type]
  private let projections: [any Projection.Type]
  private let pace: RunnerPace
  private let lease: RunnerLease
  private let stopping: WakeUp
  private let report: (Runner.Report) -> Void
  private var page: LogStretch
  private var fortunes: [String: Fortune] = [:]
  private var isLeading = false
  private var nextHeartbeat = Instant.now()

  init(
    target: String,
    keyring: Keyring,
    projections: [any Projection.Type],
    pace: RunnerPace,
    lease: RunnerLease,
    stopping: WakeUp,
    report: @escaping (Runner.Report) -> Void
  ) throws {
    connection = try BlockingConnection(
      target: target,
      applicationName: Runner.applicationName,
      setup: Self.setup(pace),
      patience: pace.stepTimeout + pace.patience
    )
    self.projections = projections
    followers = projections.filter { $0.mode == .following }
    self.pace = pace
    self.lease = lease
    self.stopping = stopping
    self.report = report
    page = LogStretch(pace, keyring)
  }

  /// Goes on until it is told to stop; throws where the connection is lost.
  mutating func run() throws {
    while !stopping.isSet {
      let begin = Instant.now()
      if begin >= nextHeartbeat { try beat(begin) }
      let states = try ProjectionState.read(projections, connection, patience: pace.patience)
      report(.states(states))
      guard isLeading else {
        stopping.wait(atMost: nextHeartbeat - .now())
        continue
      }
      if try advance(states) {
        // What was notified meanwhile is dropped, so that it doesn't pile up.
        _ = try connection.waitForNotification(atMost: .zero)
        continue
      }
      page.clear()
      let wasNotified = try connection.waitForNotification(
        atMost: min(pace.poll, nextHeartbeat - .now()),
        wake: stopping.descriptor
      )
      if wasNotified { stopping.wait(atMost: begin + pace.gathering - .now()) }
    }
    if isLeading && pace.takesTurns { try lease.release(connection, patience: pace.patience) }
  }

  /// Takes or renews the lease, and begins or ends a term.
  private mutating func beat(_ now: Instant) throws {
    nextHeartbeat = now + pace.heartbeat
    let leads = try !pace.takesTurns || lease.take(connection, patience: pace.patience)
    guard leads != isLeading else { return }
    isLeading = leads
    report(.leads(leads))
    if leads {
      try connection.script(LogTail.listen)
      for follower in followers {
        fortunes[follower.name] = Fortune(batch: pace.batch, retries: true)
      }
    } else {
      try connection.script("unlisten *")
    }
  }

  /// Lets each follower that is behind take one step; whether there is more to do at once.
  private mutating func advance(_ states: [ProjectionState]) throws -> Bool {
    var hasMore = false
    for follower in followers {
      guard !stopping.isSet else { return false }
      let name = follower.name
      guard let state = states.first(where: { $0.name == name }), state.lag > 0,
        var fortune = fortunes[name], fortune.restsUntil <= .now(),
        state.stop == nil || fortune.retries
      else { continue }
      if try step(follower, at: state, &fortune) { hasMore = true }
      fortunes[name] = fortune
    }
    return hasMore
  }

  /// One step from `state`; true where it was not large enough to take in all there was.
  private mutating func step(
    _ follower: any Projection.Type,
    at state: ProjectionState,
    _ fortune: inout Fortune
  ) throws -> Bool {
    do {
      return try tryStep(follower, at: state, &fortune)
    } catch let failure as BlockingConnection.Failure where !failure.isConnectionLost {
      hinder(
        follower,
        &fortune,
        reason: failure.safeDescription,
        // A statement that took too long may do with fewer events.
        isTooLarge: failure.sqlState == Self.canceled
      )
    } catch let error as ProjectionError {
      guard case .locked = error else { throw error }
      // What comes before that event needs no key that is missing.
      hinder(follower, &fortune, reason: error.description, isTooLarge: true)
      // It is opened anew the next time.
      page.clear()
    }
    return false
  }

  /// Lets `follower` rest after a failure that will pass.
  private func hinder(
    _ follower: any Projection.Type,
    _ fortune: inout Fortune,
    reason: String,
    isTooLarge: Bool
  ) {
    if isTooLarge { fortune.batch = max(1, fortune.batch / 2) }
    fortune.failures += 1
    fortune.restsUntil = .now() + pace.pause(after: fortune.failures)
    // Told at the first, the second, the fourth, the eighth, …
    if fortune.failures & (fortune.failures - 1) == 0 {
      report(.hindered(follower.name, reason))
    }
  }

  private mutating func tryStep(
    _ follower: any Projection.Type,
    at state: ProjectionState,
    _ fortune: inout Fortune
  ) throws -> Bool {
    let retries = fortune.retries
    do {
      let step = try follower.advance(connection, &page, count: fortune.batch, retrying: retries)
      fortune.failures = 0
      fortune.retries = false
      guard case .applied(let count) = step else { return false }
      if let stop = state.stop { report(.resumed(follower.name, stop.position)) }
      fortune.batch = min(pace.batch, fortune.batch * 2)
      return count < state.lag
    } catch let poison as Poison {
      let stop = try follower.isolate(poison, connection, &page, retrying: retries)
      fortune.retries = false
      if let stop {
        report(.stopped(follower.name, stop.event, reason: stop.reason))
      }
      return false
    }
  }

  private static let canceled = "57014"

  private static func setup(_ pace: RunnerPace) -> [String] {
    ["set role jejak_service"] + SessionDefaults.statements + [
      // A checkpoint and its effects are lost together or not at all, and what is lost is done
      // again: no step has to wait for the disk.
      "set synchronous_commit = off",
      "set statement_timeout = \(pace.stepTimeout.milliseconds)",
      "set lock_timeout = \(pace.lockTimeout.milliseconds)",
      // If this process stops in the middle of a step, its locks are soon gone.
      "set idle_in_transaction_session_timeout = \(pace.stepTimeout.milliseconds)",
      "set jit = off",
      "set timezone = 'UTC'",
    ]
  }
}

extension RunnerPace {
  /// The pause after so many failures in a row.
  func pause(after failures: Int) -> Duration {
    min(longestPause, firstPause * (1 << min(max(0, failures - 1), 10)))
  }
}

extension Duration {
  /// Whole milliseconds.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
