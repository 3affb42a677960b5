import Accounts
import Clocks
import EventLog
import EventLoop
import Postgres
import Profiles
import TestSupport
import Testing

@Suite("An API key", .database)
struct APIKeyTests {
  private static func create(_ scopes: [Scope]) throws -> (key: Token, listed: APIKeys.Listed) {
    let connection = try TestDatabase.current.session()
    return try APIKeys.create(name: "tests", scopes: scopes, expiry: .never, connection)
  }

  private static func run(_ sql: String) throws {
    try TestDatabase.current.session().script(sql)
  }

  @Test func `names its operator`() async throws {
    try await withAccounts { fixture async throws in
      let (key, listed) = try Self.create([.auditRead, .usersWrite])
      let found = try await fixture.accounts.operator(ofDigest: key.digest)
      #expect(found.id == listed.id)
      #expect(found.name == "tests")
      #expect(found.scopes == [.auditRead, .usersWrite])
      #expect(found.actor == .operator(listed.id))
      let unknown = Token(.apiKey).digest
      #expect(
        await refusal { _ = try await fixture.accounts.operator(ofDigest: unknown) }
          == "unauthenticated"
      )
    }
  }

  @Test(arguments: [
    "update api_keys set revoked_at = now()", "update api_keys set expires_at = now()",
    "delete from api_keys",
  ])
  func `is worth nothing once it has ended`(statement: String) async throws {
    try await withAccounts { fixture async throws in
      let (key, listed) = try Self.create([.eventsRead])
      _ = try await fixture.accounts.operator(ofDigest: key.digest)
      #expect(try await fixture.accounts.isStillValid(listed.id))
      try Self.run(statement)
      #expect(try await !fixture.accounts.isStillValid(listed.id))
      #expect(
        await refusal { _ = try await fixture.accounts.operator(ofDigest: key.digest) }
          == "unauthenticated"
      )
    }
  }

  @Test func `has its use written down after the answer, once in a minute`() async throws {
    try await withAccounts { fixture async throws in
      let (key, _) = try Self.create([.eventsRead])
      func lastUse() async throws -> String {
        try await fixture.loop.until { !fixture.accounts.hasDeferredWork }
        let keys = try APIKeys.list(TestDatabase.current.session())
        return keys.first?.lastUsedAt?.description ?? "never"
      }
      #expect(try await lastUse() == "never")
      _ = try await fixture.accounts.operator(ofDigest: key.digest)
      let first = try await lastUse()
      #expect(first != "never")
      _ = try await fixture.accounts.operator(ofDigest: key.digest)
      #expect(try await lastUse() == first)
    }
  }

  @Test func `with a scope of a later release has the others`() async throws {
    try await withAccounts { fixture async throws in
      let (key, _) = try Self.create([.eventsRead])
      try Self.run("update api_keys set scopes = '{moons:write,events:read}'")
      let found = try await fixture.accounts.operator(ofDigest: key.digest)
      #expect(found.scopes == [.eventsRead])
    }
  }

  @Test func `that writes may read, and nothing else follows`() {
    for held in Scope.allCases {
      let allowed = Scope.allCases.filter { $0.isAllowed(by: [held]) }
      switch held {
      case .usersWrite: #expect(allowed == [.usersRead, .usersWrite])
      case .projectionsWrite: #expect(allowed == [.projectionsRead, .projectionsWrite])
      default: #expect(allowed == [held])
      }
    }
    #expect(Scope.allCases.filter { $0.isAllowed(by: []) }.isEmpty)
  }
}
