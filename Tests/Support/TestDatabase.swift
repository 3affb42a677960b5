public import Postgres
public import Testing

/// A database that one test has to itself.
public final class TestDatabase: Sendable {
  /// The database of the running test.
  public static var current: TestDatabase {
    get throws { try #require(bound, "the test has the trait .database") }
  }

  @TaskLocal static var bound: TestDatabase?

  /// What libpq connects to, as the database's owner.
  public let target: String
  /// The database's name.
  public let name: String
  private let server: TestServer

  init(isMigrated: Bool) throws {
    server = try TestServer.shared.get()
    name = "test_\(UInt64.random(in: .min ... .max))"
    target = server.target(ofDatabase: name)
    let template = isMigrated ? "template \(TestServer.template)" : ""
    try server.session(inDatabase: "postgres")
      .script("create database \(name) owner jejak \(template)")
  }

  func drop() throws {
    try server.session(inDatabase: "postgres").script("drop database \(name) with (force)")
  }

  /// A session as the database's owner.
  public func session() throws -> BlockingConnection {
    try BlockingConnection(target: target, applicationName: "jejak tests")
  }

  /// A session of the superuser, who may end the sessions of others.
  public func superuserSession() throws -> BlockingConnection {
    try server.session(inDatabase: name)
  }

  /// Ends every session of this database that calls itself `applicationName`; how many.
  @discardableResult
  public func terminate(_ applicationName: String) throws -> Int {
    var parameters = Parameters()
    parameters.add(applicationName)
    return try superuserSession().query(
      """
      select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = $1::text and datname = current_database()
      """,
      parameters
    ).count
  }

  /// Another database on the same server, for the time of `body`.
  public func withAnother(_ body: (TestDatabase) async throws -> Void) async throws {
    let other = try TestDatabase(isMigrated: false)
    defer { try? other.drop() }
    try await body(other)
  }
}

/// Gives each test a database of its own: `TestDatabase.current`.
public struct DatabaseTrait: TestTrait, SuiteTrait, TestScoping {
  let isMigrated: Bool

  /// Each test of a suite gets its own.
  public var isRecursive: Bool { true }

  /// Makes the database, runs the test, drops the database.
  public func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    await Turnstile.databases.enter()
    let result: Result<Void, any Error>
    do {
      let database = try TestDatabase(isMigrated: isMigrated)
      defer { try? database.drop() }
      try await TestDatabase.$bound.withValue(database) { try await function() }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    await Turnstile.databases.leave()
    try result.get()
  }
}

extension Trait where Self == DatabaseTrait {
  /// A migrated database of the test's own.
  public static var database: Self { DatabaseTrait(isMigrated: true) }

  /// A database of the test's own, without any table.
  public static var emptyDatabase: Self { DatabaseTrait(isMigrated: false) }
}
