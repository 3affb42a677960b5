import Accounts
import Clocks
import EventLog
import EventLoop
import JSON
import Postgres
import Profiles
import TestSupport
import Testing

@Suite("A session", .database)
struct SessionTests {
  private static func run(_ sql: String) throws {
    try TestDatabase.current.session().script(sql)
  }

  @Test func `is found by its token alone, beside hundreds of unknown ones`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let opened = try await fixture.signIn()
      let digests = (0..<300).map { $0 % 100 == 50 ? opened.token.digest : Token().digest }
      let tasks = digests.map { digest in
        Task(executorPreference: fixture.loop) {
          try? await fixture.accounts.holder(ofDigest: digest).session
        }
      }
      for (number, task) in tasks.enumerated() {
        #expect(await task.value == (number % 100 == 50 ? opened.id : nil))
      }
    }
  }

  @Test(arguments: [
    "update sessions set expires_at = now()",
    "update sessions set last_used_at = now() - interval '1 hour 1 second'",
    "delete from sessions",
    "delete from current_users",
  ])
  func `is refused once it has ended`(statement: String) async throws {
    try await withAccounts { fixture async throws in
      let user = try await fixture.register()
      let opened = try await fixture.signIn()
      _ = try await fixture.holder(opened)
      try Self.run(statement)
      #expect(await refusal { _ = try await fixture.holder(opened) } == "unauthenticated")
      if statement.hasPrefix("update") {
        #expect(try await fixture.accounts.sessions(of: user.id, after: nil, limit: 9).isEmpty)
      }
    }
  }

  @Test func `has its use written down, once in a while`() async throws {
    try await withAccounts { fixture async throws in
      let user = try await fixture.register()
      let opened = try await fixture.signIn()
      _ = try await fixture.holder(opened)
      try await fixture.loop.until { !fixture.accounts.hasDeferredWork }
      @Sendable func lastUse() async throws -> Timestamp? {
        try await fixture.accounts.sessions(of: user.id, after: nil, limit: 9).first?.lastUsedAt
      }
      // An hour of idleness is allowed: a use is written down every 150 seconds.
      #expect(try await lastUse() == opened.createdAt)
      try Self.run("update sessions set last_used_at = now() - interval '151 seconds'")
      let before = try #require(try await lastUse())
      _ = try await fixture.holder(opened)
      try await fixture.loop.until { !fixture.accounts.hasDeferredWork }
      #expect(try #require(try await lastUse()) > before + .seconds(150))
      #expect(fixture.reports.all.isEmpty)
    }
  }

  @Test func `is listed newest first, page by page`() async throws {
    try await withAccounts { fixture async throws in
      let user = try await fixture.register()
      var opened: [SessionID] = []
      for _ in 0..<5 { opened.append(try await fixture.signIn().id) }
      var listed: [SessionID] = []
      while true {
        let page = try await fixture.accounts.sessions(
          of: user.id,
          after: listed.last,
          limit: 2
        )
        guard !page.isEmpty else { break }
        listed += page.map(\.id)
      }
      #expect(listed == opened.sorted(by: >))
    }
  }

  @Test func `can be ended by its user, and by no one else`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register("ada@example.com")
      _ = try await fixture.register("charles@example.com")
      let ada = try await fixture.signIn("ada@example.com")
      let charles = try await fixture.signIn("charles@example.com")
      let holder = try await fixture.holder(charles)
      @Sendable func end(_ session: SessionID) async -> String {
        await refusal {
          try await fixture.accounts.end(
            .one(session),
            of: holder,
            source: Source(),
            receipts: []
          )
        }
      }
      #expect(await end(ada.id) == "notFound")
      _ = try await fixture.holder(ada)
      #expect(await end(charles.id) == "none")
      #expect(await refusal { _ = try await fixture.holder(charles) } == "unauthenticated")
      #expect(await end(charles.id) == "notFound")
      #expect(try fixture.types().filter { $0 == "SignedOut" }.count == 1)
    }
  }

  @Test func `is kept where all others are ended`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let others = [try await fixture.signIn(), try await fixture.signIn()]
      let kept = try await fixture.signIn()
      let holder = try await fixture.holder(kept)
      for _ in 0..<2 {
        try await fixture.accounts.end(
          .allExcept(kept.id),
          of: holder,
          source: Source(),
          receipts: []
        )
      }
      for other in others {
        #expect(await refusal { _ = try await fixture.holder(other) } == "unauthenticated")
      }
      _ = try await fixture.holder(kept)
      // The second time there was nothing to end, and nothing to tell.
      #expect(try fixture.types().filter { $0 == "SessionsRevoked" }.count == 1)
    }
  }
}

@Suite("Accounts without a database", .database)
struct OutageTests {
  @Test func `say that it is away, and go on when it is back`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let opened = try await fixture.signIn()
      let holder = try await fixture.holder(opened)
      let database = try TestDatabase.current
      // Connections of the owner are refused; those of the superuser are not.
      try database.superuserSession().script(
        "alter database \(database.name) connection limit 0"
      )
      try database.terminate("jejak")
      try await fixture.loop.until {
        await refusal { _ = try await fixture.holder(opened) } == "unavailable"
      }
      // A connection whose end isn't noticed yet takes an append, and loses it.
      try await fixture.loop.until {
        await refusal {
          _ = try await fixture.accounts.update(
            holder,
            by: try fixture.patch(["firstName": "X"]),
            if: nil,
            source: Source(),
            receipt: nil
          )
        } == "unavailable"
      }
      #expect(await refusal { _ = try await fixture.signIn() } == "unavailable")
      try database.superuserSession().script(
        "alter database \(database.name) connection limit -1"
      )
      try await fixture.loop.until {
        await refusal { _ = try await fixture.holder(opened) } == "none"
      }
    }
  }
}
