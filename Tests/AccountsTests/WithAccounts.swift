import Accounts
import EventLog
import EventLoop
import JSON
import Postgres
import Profiles
import Synchronization
import TestSupport
import Testing

/// Accounts of one loop, with what a test does to them.
struct Fixture: Sendable {
  let loop: EventLoop
  let accounts: Accounts
  let reports: Reports

  /// A password that every policy accepts, and one that differs.
  static let password = "tea with Babbage at 5"
  static let otherPassword = "coffee with Menabrea"

  func register(_ email: String = "ada@example.com") async throws -> CurrentUser {
    try await accounts.register(
      ["email": .string(email), "password": .string(Self.password), "firstName": "Ada"],
      source: Source(),
      receipt: nil
    )
  }

  func signIn(
    _ email: String = "ada@example.com",
    password: String = password,
    source: Source = Source()
  ) async throws -> OpenedSession {
    let password = try #require(Password(presented: password))
    return try await accounts.signIn(
      email: email,
      password: password,
      source: source,
      receipt: nil
    )
  }

  func holder(_ session: OpenedSession) async throws -> Holder {
    try await accounts.holder(ofDigest: session.token.digest, key: true)
  }

  func patch(_ body: JSON) throws -> ProfilePatch {
    try ProfilePatch(body, schema: accounts.rules.schema, today: Accounts.today())
  }

  func changePassword(
    _ holder: Holder,
    from old: String = password,
    to new: String = otherPassword
  ) async throws -> OpenedSession {
    try await accounts.changePassword(
      holder,
      [
        "oldPassword": .string(old), "newPassword": .string(new),
        "confirmPassword": .string(new),
      ],
      source: Source(),
      receipts: { _ in [] }
    )
  }

  /// The types of all events, in the order of the log.
  func types() throws -> [String] {
    let rows = try TestDatabase.current.session().query(
      "select type from events order by position"
    )
    return (0..<rows.count).map { rows.string($0, 0) ?? "" }
  }
}

/// What accounts reported, in order.
final class Reports: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// What the tests of this process hash with.
private let hashing = Result { PasswordHashing(pool: try WorkerPool(threads: 2, queueLimit: 256)) }

/// Runs `body` with accounts in the test's database, on a loop of their own.
func withAccounts<Value: Sendable>(
  idle: Duration = .seconds(3_600),
  absolute: Duration = .seconds(86_400),
  _ body: @escaping @Sendable (Fixture) async throws -> Value
) async throws -> Value {
  let target = try TestDatabase.current.target
  let hashing = try hashing.get()
  return try await withLoop { loop in
    let reports = Reports()
    let readiness = Readiness()
    let connections = Connections(loop: loop, target: target, readiness: readiness) {
      reports.add($0)
    }
    let chains = Chains(loop: loop, target: target, readiness: readiness) { reports.add($0) }
    let accounts = Accounts(
      loop: loop,
      connections: connections,
      chains: chains,
      hashing: hashing,
      keyring: TestKeys.newKeyring(),
      rules: .init(
        schema: TestUser.schema,
        passwords: .standard,
        lifetimes: SessionLifetimes(idle: idle, absolute: absolute)
      )
    ) { reports.add($0) }
    connections.open()
    chains.open()
    try await loop.until { readiness.isComplete }
    let fixture = Fixture(loop: loop, accounts: accounts, reports: reports)
    let result: Result<Value, any Error>
    do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
    try await loop.until { !accounts.hasDeferredWork }
    connections.close()
    chains.close()
    return try result.get()
  }
}

/// The error that `body` ends with, as a word.
func refusal(_ body: () async throws -> Void) async -> String {
  do {
    try await body()
    return "none"
  } catch AccountsError.password(let code, _) {
    return "\(code)"
  } catch AccountsError.invalid(let errors) {
    return errors.map { "\($0.pointer) \($0.code)" }.joined(separator: ", ")
  } catch AccountsError.preconditionFailed(let user) {
    return "preconditionFailed at \(user.version)"
  } catch {
    return "\(error)"
  }
}
