import Accounts
import EventLog
import JSON
import Postgres
import Profiles
import Sodium
import TestSupport
import Testing

@Suite("Changing a password", .database)
struct ChangePasswordTests {
  @Test func `ends every other session and renews the acting one`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let other = try await fixture.signIn()
      let acting = try await fixture.signIn()
      let holder = try await fixture.holder(acting)
      let renewed = try await fixture.changePassword(holder)
      #expect(renewed.id == acting.id)
      // Its use has been written down anew, and its end moves with that.
      #expect(renewed.expiresAt > acting.expiresAt)
      #expect(renewed.expiresAt < holder.sessionExpiresAt)
      #expect(await refusal { _ = try await fixture.holder(other) } == "unauthenticated")
      #expect(await refusal { _ = try await fixture.holder(acting) } == "unauthenticated")
      #expect(try await fixture.holder(renewed).version == Version(2))
      #expect(await refusal { _ = try await fixture.signIn() } == "invalidCredentials")
      _ = try await fixture.signIn(password: Fixture.otherPassword)
    }
  }

  @Test func `leaves the commitment of the new hash in the log, and nothing of the old one`()
    async throws
  {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      _ = try await fixture.changePassword(try await fixture.holder(try await fixture.signIn()))
      let session = try TestDatabase.current.session()
      let rows = try session.query("select password_hash, commitment from credentials")
      #expect(rows.count == 1)
      #expect(Array(rows.bytes(0, 1)) == SHA256.digest(of: rows.bytes(0, 0)))
      let commitment = try session.query("select encode(commitment, 'hex') from credentials")
        .string(0, 0)
      let events = TestKeys.events(
        try session.query("select \(RecordedEvent.columns) from events order by position")
      )
      let payloads = events.map { String(decoding: $0.payload, as: UTF8.self) }
      let changed = zip(events, payloads).filter { $0.0.type == "PasswordChanged" }.map(\.1)
      #expect(changed.count == 1)
      #expect(changed.first?.contains(try #require(commitment)) == true)
      #expect(payloads.allSatisfy { $0.hasPrefix("{") && !$0.contains("argon2") })
    }
  }

  @Test func `is refused with a wrong old password`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let holder = try await fixture.holder(try await fixture.signIn())
      let word = await refusal {
        _ = try await fixture.changePassword(holder, from: "not the old password")
      }
      #expect(word == "wrongPassword")
      #expect(try fixture.types() == ["UserRegistered", "SignedIn"])
    }
  }

  @Test func `happens once where it is asked for twice at a time`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let holders = [
        try await fixture.holder(try await fixture.signIn()),
        try await fixture.holder(try await fixture.signIn()),
      ]
      let tasks = holders.map { holder in
        Task(executorPreference: fixture.loop) {
          await refusal { _ = try await fixture.changePassword(holder) }
        }
      }
      var words: [String] = []
      for task in tasks { words.append(await task.value) }
      // The loser's session has ended, or its old password is old.
      #expect(words.contains("none"))
      #expect(words.contains { ["unauthenticated", "wrongPassword"].contains($0) })
      #expect(try fixture.types().filter { $0 == "PasswordChanged" }.count == 1)
      #expect(try LogLaws().hold)
    }
  }

  @Test func `goes on beside updates of the same profile`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let holder = try await fixture.holder(try await fixture.signIn())
      let updates = Task(executorPreference: fixture.loop) {
        for number in 0..<30 as Range<Int64> {
          _ = try await fixture.accounts.update(
            holder,
            by: try fixture.patch(["attributes": ["n": .integer(number)]]),
            if: nil,
            source: Source(),
            receipt: nil
          )
        }
      }
      _ = try await fixture.changePassword(holder)
      try await updates.value
      let types = try fixture.types()
      #expect(types.filter { $0 == "PasswordChanged" }.count == 1)
      #expect(types.filter { $0 == "ProfileUpdated" }.count == 30)
      #expect(try LogLaws().hold)
    }
  }
}
