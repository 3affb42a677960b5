import EventLog
public import EventLoop
public import Postgres
import Profiles

/// Decides commands for the same user one on top of the other, before the first is committed.
///
/// While events of a user are on their way into the log, the next command is decided on what they
/// will have made of the profile, and its event goes into the same batch or the next: a busy user
/// costs no more commits than many users do. If an event fails, the lane breaks the chain in the
/// same moment, and every command behind it loads the profile and is decided again.
///
/// Belongs to the loop of the append lane, whichever loop a command comes from; a process has one.
public final class Chains: Sendable {
  /// What a command comes to on a given state.
  enum Decision {
    /// This event, which makes the profile this.
    case append(NewEvent, CurrentUser)
    /// The profile stays.
    case unchanged
  }

  /// What became of a command.
  struct Outcome {
    /// The profile as it is now.
    let user: CurrentUser
    /// Whether the command has changed it.
    let hasChanged: Bool
  }

  /// How long a batch waits for a row that somebody else has locked.
  ///
  /// Then its events are tried apart, so that one locked user holds up nobody for longer.
  private static let lockPatience = "500ms"
  /// Connections that it opens.
  public static let connectionCount = 1

  /// The events of one user that are on their way, and what they will have made of the profile.
  private final class Chain {
    var latest: CurrentUser
    var underWay = 0
    var observers: [Observer] = []

    init(latest: CurrentUser) { self.latest = latest }
  }

  /// A command that was answered by a state which must be true before anyone is told.
  private struct Observer {
    let version: Version
    let continuation: CheckedContinuation<Appended?, Never>
  }

  private let loop: EventLoop
  private let connection: Connection
  private let lane: AppendLane
  private let chains: LoopBound<[UserID: Chain]>

  /// Appends through a connection of `loop` to `target`; `open` makes it.
  public init(
    loop: EventLoop,
    target: String,
    readiness: Readiness = Readiness(),
    report: @escaping @Sendable (String) -> Void
  ) {
    self.loop = loop
    connection = Connection(
      loop: loop,
      configuration: Connections.configuration(
        target,
        [AppendStatement.statement],
        lockPatience: Self.lockPatience
      ),
      readiness: readiness,
      report: report
    )
    lane = AppendLane(loop: loop, connection: connection)
    chains = LoopBound([:], on: loop)
  }

  /// Begins to connect; from any thread.
  public func open() {
    loop.execute { [self] in
      lane.whenFailed { [self] in breakChain(of: $0) }
      connection.open()
    }
  }

  /// Closes the connection; from any thread, when nothing is appended any more.
  public func close() {
    loop.execute { [connection] in connection.close() }
  }

  /// Appends an event that nobody decides on; from any loop.
  func append(_ event: NewEvent) async throws(AppendError) -> Appended {
    try await withTaskExecutorPreference(loop) { () async throws(AppendError) -> Appended in
      try await lane.append(event)
    }
  }

  /// Decides a command on the user's latest state, or on `known` where none is on its way, and
  /// appends what it comes to; from any loop.
  ///
  /// Returns nil where that state didn't come about: then `known` must be loaded again.
  func run(
    on known: CurrentUser,
    _ decide: @Sendable (CurrentUser) throws(AccountsError) -> Decision
  ) async throws(AccountsError) -> Outcome? {
    try await withTaskExecutorPreference(loop) { () async throws(AccountsError) -> Outcome? in
      try await runHere(on: known, decide)
    }
  }

  private func runHere(
    on known: CurrentUser,
    _ decide: (CurrentUser) throws(AccountsError) -> Decision
  ) async throws(AccountsError) -> Outcome? {
    let open = chains.value[known.id]
    let base = open?.latest ?? known
    let decision: Decision
    do throws(AccountsError) {
      decision = try decide(base)
    } catch {
      guard let open else { throw error }
      guard await commit(of: base.version, in: open) != nil else { return nil }
      throw error
    }
    guard case .append(let event, let pending) = decision else {
      guard let open else { return Outcome(user: base, hasChanged: false) }
      return await commit(of: base.version, in: open).map {
        Outcome(user: base.committed($0), hasChanged: false)
      }
    }
    let chain = open ?? Chain(latest: pending)
    chain.latest = pending
    chain.underWay += 1
    chains.value[known.id] = chain
    do throws(AppendError) {
      let appended = try await lane.append(event)
      settle(appended, in: chain, of: known.id)
      return Outcome(user: pending.committed(appended), hasChanged: true)
    } catch .versionConflict {
      return nil
    } catch .overloaded {
      // The lane never had the event, so it doesn't break the chain that foresees it.
      breakChain(of: known.id)
      throw .overloaded
    } catch {
      throw AccountsError(error)
    }
  }

  /// Waits until `version` of the chain is committed; nil where that failed.
  private func commit(of version: Version, in chain: Chain) async -> Appended? {
    await withCheckedContinuation {
      chain.observers.append(Observer(version: version, continuation: $0))
    }
  }

  private func settle(_ appended: Appended, in chain: Chain, of user: UserID) {
    for observer in chain.observers where observer.version == appended.version {
      observer.continuation.resume(returning: appended)
    }
    chain.observers.removeAll { $0.version == appended.version }
    chain.underWay -= 1
    if chain.underWay == 0, chains.value[user] === chain { chains.value[user] = nil }
  }

  private func breakChain(of user: UserID) {
    guard let chain = chains.value.removeValue(forKey: user) else { return }
    for observer in chain.observers { observer.continuation.resume(returning: nil) }
    chain.observers = []
  }
}
