import Accounts
import Clocks
import EventLog
import JSON
import Postgres
import Profiles
import TestSupport
import Testing

@Suite("Signing in", .database)
struct SignInTests {
  @Test func `tells unknown addresses and wrong passwords by the same error`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      for (email, password) in [
        ("ada@example.com", "wrong"), ("nobody@example.com", Fixture.password), ("no address", "x"),
        ("", ""), ("ada@example.com", Fixture.password + " "),
      ] {
        let word = await refusal { _ = try await fixture.signIn(email, password: password) }
        #expect(word == "invalidCredentials")
      }
      // The failure of a known account is noted after the answer.
      try await fixture.loop.until { !fixture.accounts.hasDeferredWork }
      #expect(try fixture.types() == ["UserRegistered", "SignInFailed", "SignInFailed"])
    }
  }

  @Test func `opens no session of an account that is suspended`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      try TestDatabase.current.session().script("update current_users set status = 2")
      let word = await refusal { _ = try await fixture.signIn() }
      #expect(word == "invalidCredentials")
    }
  }

  @Test func `opens a session for everyone who comes at the same time`() async throws {
    try await withAccounts { fixture async throws in
      let user = try await fixture.register()
      let signIns = (0..<20).map { number in
        Task(executorPreference: fixture.loop) {
          // A wrong one now and then makes versions of the same stream.
          if number % 5 == 0 { _ = try? await fixture.signIn(password: "wrong") }
          return try await fixture.signIn()
        }
      }
      for task in signIns { _ = try await fixture.holder(try await task.value) }
      try await fixture.loop.until { !fixture.accounts.hasDeferredWork }
      let types = try fixture.types()
      #expect(types.filter { $0 == "SignedIn" }.count == 20)
      #expect(types.filter { $0 == "SignInFailed" }.count == 4)
      let listed = try await fixture.accounts.sessions(of: user.id, after: nil, limit: 100)
      #expect(listed.count == 20)
      #expect(fixture.reports.all == [])
      #expect(try LogLaws().hold)
    }
  }

  @Test func `keeps where the session was opened from`() async throws {
    try await withAccounts { fixture async throws in
      let user = try await fixture.register()
      let opened = try await fixture.signIn(
        source: Source(address: "192.0.2.7", agent: "test/1")
      )
      let listed = try await fixture.accounts.sessions(of: user.id, after: nil, limit: 10)
      #expect(listed.map(\.id) == [opened.id])
      #expect(listed.first?.address == "192.0.2.7")
      #expect(listed.first?.agent == "test/1")
      #expect(listed.first?.createdAt == opened.createdAt)
    }
  }

  @Test func `with a password that is being changed opens no session that outlives it`()
    async throws
  {
    try await withAccounts { fixture async throws in
      let user = try await fixture.register()
      let database = try TestDatabase.current
      // The hash that a sign-in has verified is replaced before it opens its session.
      let rows = try database.session().query("select commitment from credentials")
      let commitment = Array(rows.bytes(0, 0))
      _ = try await fixture.changePassword(
        try await fixture.holder(try await fixture.signIn())
      )
      var parameters = Parameters()
      parameters.add(user.id)
      parameters.add(commitment)
      parameters.add(SessionID(at: .now()))
      parameters.add(Token().digest)
      let session = try database.session()
      let failure = #expect(throws: BlockingConnection.Failure.self) {
        try session.query(
          """
          select from start_session($1::uuid, $2::bytea, $3::uuid, $4::bytea, now(),
                                    interval '1 day', null, null)
          """,
          parameters
        )
      }
      #expect(failure?.sqlState == "JJ002")
      #expect(try session.query("select from sessions").count == 1)
    }
  }

  @Test func `that races a password change leaves one session and one valid password`()
    async throws
  {
    try await withAccounts { fixture async throws in
      let user = try await fixture.register()
      let holder = try await fixture.holder(try await fixture.signIn())
      let signIns = (0..<6).map { _ in
        Task(executorPreference: fixture.loop) { try? await fixture.signIn() }
      }
      let renewed = try await fixture.changePassword(holder)
      for task in signIns {
        // Those before the change were ended by it, those after it were refused.
        guard let opened = await task.value else { continue }
        #expect(await refusal { _ = try await fixture.holder(opened) } == "unauthenticated")
      }
      _ = try await fixture.holder(renewed)
      let listed = try await fixture.accounts.sessions(of: user.id, after: nil, limit: 10)
      #expect(listed.map(\.id) == [holder.session])
    }
  }
}
