import EventLog
public import EventLoop
public import Keys
import Postgres
public import Profiles

/// What can be done with accounts, on one event loop: load, decide, append.
public final class Accounts: Sendable {
  /// What is the same for all loops.
  public struct Rules: Sendable {
    /// The custom attributes.
    public let schema: ProfileSchema
    /// What a new password must be.
    public let passwords: PasswordPolicy
    /// How long sessions last.
    public let lifetimes: SessionLifetimes

    /// These rules.
    public init(
      schema: ProfileSchema,
      passwords: PasswordPolicy,
      lifetimes: SessionLifetimes
    ) {
      self.schema = schema
      self.passwords = passwords
      self.lifetimes = lifetimes
    }
  }

  /// Tries of a command that others keep overtaking.
  static let attemptLimit = 100
  /// Pages of feeds that are read at a time, so that what operators ask for gets through.
  static let feedPageLimit = 4
  /// Feeds that may wait to read a page, which is more than may be open.
  static let feedPageQueueLimit = 1024
  /// Users as they were that are folded at a time.
  static let foldLimit = 4
  /// Requests that may wait for such a fold.
  static let foldQueueLimit = 64
  /// Events that may wait to be appended after their answer was given.
  static let deferredLimit = 1024

  /// The rules.
  public let rules: Rules
  /// The keys that seal what is written, and open what is read.
  public let keyring: Keyring
  let loop: EventLoop
  let connections: Connections
  let hashing: PasswordHashing
  let chains: Chains
  let holders: HolderLane
  /// The same with the users' keys, for commands; fetches do without.
  let writers: HolderLane
  let feedPages: Turns
  let folds: Turns
  private let report: @Sendable (String) -> Void
  private let deferred: LoopBound<Int>

  /// Accounts on `loop`, whose events go through `chains`, wherever those are; `report` is told of
  /// what goes wrong after the answer was given.
  public init(
    loop: EventLoop,
    connections: Connections,
    chains: Chains,
    hashing: PasswordHashing,
    keyring: Keyring,
    rules: Rules,
    report: @escaping @Sendable (String) -> Void
  ) {
    self.loop = loop
    self.connections = connections
    self.hashing = hashing
    self.rules = rules
    self.keyring = keyring
    self.report = report
    self.chains = chains
    holders = HolderLane(
      Holder.statement,
      loop: loop,
      connection: connections.fetch,
      lifetimes: rules.lifetimes
    )
    writers = HolderLane(
      Holder.writerStatement,
      loop: loop,
      connection: connections.fetch,
      lifetimes: rules.lifetimes
    )
    feedPages = Turns(Self.feedPageLimit, queueLimit: Self.feedPageQueueLimit, on: loop)
    folds = Turns(Self.foldLimit, queueLimit: Self.foldQueueLimit, on: loop)
    deferred = LoopBound(0, on: loop)
  }

  /// The session and user that the token with this digest stands for.
  ///
  /// With `key` it comes with the user's key, without which nothing can be written.
  public func holder(
    ofDigest digest: [UInt8],
    key: Bool = false
  ) async throws(AccountsError) -> Holder {
    let lane = key ? writers : holders
    guard let holder = try await lane.holder(of: digest) else { throw .unauthenticated }
    if holder.isStale { noteUse(of: holder.session) }
    return holder
  }

  /// Whether work that outlives its answer is still under way; a stopping service waits for it.
  public var hasDeferredWork: Bool { deferred.value > 0 }

  /// Runs `work` after the answer, so that it doesn't tell by its time what it does.
  func later(_ work: @escaping @Sendable () async throws -> Void) {
    guard deferred.value < Self.deferredLimit else { return report("deferred work was dropped") }
    deferred.value += 1
    Task(executorPreference: loop) { [self] in
      do { try await work() } catch { report("deferred work failed: \(error)") }
      deferred.value -= 1
    }
  }

  /// Runs a transaction that carries no event.
  func transaction(
    _ steps: [(Statement, Parameters)]
  ) async throws(AccountsError) -> [Rows] {
    do {
      return try await connections.other.transaction(steps)
    } catch {
      throw AccountsError(AppendError(error))
    }
  }

  /// Runs one reading statement.
  func read(_ statement: Statement, _ parameters: Parameters) async throws(AccountsError) -> Rows {
    do {
      return try await connections.other.run(statement, parameters)
    } catch {
      throw AccountsError(reading: error)
    }
  }

  /// Runs one reading statement of something long, which may hold up others of its kind alone.
  func readInBulk(
    _ statement: Statement,
    _ parameters: Parameters
  ) async throws(AccountsError) -> Rows {
    do {
      return try await connections.bulk.run(statement, parameters)
    } catch {
      throw AccountsError(reading: error)
    }
  }

  /// Runs `steps` and then appends `event`, as one transaction; the rows of the steps.
  func transaction(
    _ steps: [(Statement, Parameters)],
    then event: NewEvent
  ) async throws(AppendError) -> (rows: [Rows], appended: Appended) {
    let append = (AppendStatement.statement, AppendStatement.parameters([event], strict: true))
    var rows: [Rows]
    do {
      rows = try await connections.other.transaction(steps + [append])
    } catch {
      throw AppendError(error)
    }
    guard let appended = AppendStatement.outcome(rows.removeLast()).first ?? nil else {
      throw .failed("a strict append left its event out")
    }
    return (rows, appended)
  }

  /// The user of a session as the read model holds them now; the session may have a new token, but
  /// it must not have ended.
  func load(by session: SessionID) async throws(AccountsError) -> CurrentUser {
    var parameters = Parameters()
    parameters.add(session)
    let rows = try await read(SQL.loadUserOfSession, parameters)
    guard rows.count == 1 else { throw .unauthenticated }
    return CurrentUser(rows, 0, from: 0)
  }

  /// Any user as the read model holds them now.
  public func user(_ id: UserID) async throws(AccountsError) -> CurrentUser {
    var parameters = Parameters()
    parameters.add(id)
    let rows = try await read(SQL.loadUser, parameters)
    guard rows.count == 1 else { throw try await absence(of: id) }
    return CurrentUser(rows, 0, from: 0)
  }

  private func noteUse(of session: SessionID) {
    later { [self] in
      var parameters = Parameters()
      parameters.add(session)
      parameters.add(rules.lifetimes.touch)
      _ = try await transaction([(SQL.touchSession, parameters)])
    }
  }
}

extension AccountsError {
  /// What a failed append means, where a conflict has its own handling.
  init(_ error: AppendError) {
    switch error {
    case .receiptExists: self = .receiptExists
    case .overloaded: self = .overloaded
    case .unavailable, .versionConflict, .stale, .masterKeyChanged: self = .unavailable
    case .outcomeUnknown: self = .outcomeUnknown
    case .taken(let constraint): self = .failed("constraint \(constraint)")
    case .exhausted(let reason): self = .exhausted(reason)
    case .failed(let message): self = .failed(message)
    }
  }

  /// What a failed read means: nothing was to be changed, so nothing is unknown.
  init(reading error: PostgresError) {
    switch error {
    case .unavailable, .connectionLost: self = .unavailable
    case .refused: self = AccountsError(AppendError(error))
    }
  }
}
