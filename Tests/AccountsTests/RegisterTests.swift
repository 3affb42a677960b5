import Accounts
import EventLog
import JSON
import Keys
import Postgres
import Profiles
import TestSupport
import Testing

@Suite("Registering", .database)
struct RegisterTests {
  @Test func `makes a user who can sign in`() async throws {
    try await withAccounts { fixture async throws in
      let user = try await fixture.register()
      #expect(user.version == Version(1))
      #expect(user.createdAt == user.updatedAt)
      let session = try await fixture.signIn()
      let holder = try await fixture.holder(session)
      #expect(holder.userID == user.id)
      #expect(holder.version == Version(1))
      #expect(holder.user.document == user.document)
      #expect(try fixture.types() == ["UserRegistered", "SignedIn"])
    }
  }

  @Test func `wraps the user's key by the master key that is in use by then`() async throws {
    try await withAccounts { fixture async throws in
      let ada = try await fixture.register("ada@example.com")
      let session = try TestDatabase.current.session()
      let second = try Keyring.renew(TestKeys.inUse, TestKeys.masterKeys)
      var parameters = Parameters()
      parameters.add(second.number)
      parameters.add(second.wrappedSecret)
      try session.query(
        "update sealing set master_key = $1::integer, wrapped_secret = $2::bytea",
        parameters
      )
      let charles = try await fixture.register("charles@example.com")
      let rows = try session.query("select user_id, master_key from user_keys order by master_key")
      #expect(rows.count == 2)
      #expect(rows.identifier(0, 0) == ada.id)
      #expect(rows.integer(0, 1) == Int32(1))
      #expect(rows.identifier(1, 0) == charles.id)
      #expect(rows.integer(1, 1) == Int32(2))
      // One that the key file lacks is none to register under, and nothing is left behind.
      try session.script("update sealing set master_key = 3")
      let word = await refusal { _ = try await fixture.register("grace@example.com") }
      #expect(word.contains("keyUnavailable") && word.contains("no master key 3"))
      #expect(try session.query("select from email_claims").count == 2)
    }
  }

  @Test func `refuses an address that is taken, in any spelling`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register("ada@example.com")
      for email in ["ada@example.com", "ADA@Example.COM", " ada@example.com "] {
        #expect(await refusal { _ = try await fixture.register(email) } == "emailTaken")
      }
      #expect(try fixture.types() == ["UserRegistered"])
    }
  }

  @Test func `lets one of several have an address that all want at once`() async throws {
    let words = try await withAccounts { fixture async throws in
      let tasks = (0..<5).map { _ in
        Task(executorPreference: fixture.loop) {
          await refusal { _ = try await fixture.register() }
        }
      }
      var words: [String] = []
      for task in tasks { words.append(await task.value) }
      #expect(try fixture.types() == ["UserRegistered"])
      return words
    }
    #expect(words.sorted() == ["emailTaken", "emailTaken", "emailTaken", "emailTaken", "none"])
  }

  @Test func `names every field that is wrong, and leaves nothing behind`() async throws {
    try await withAccounts { fixture async throws in
      let word = await refusal {
        _ = try await fixture.accounts.register(
          ["email": "no address", "password": "short", "role": "admin"],
          source: Source(),
          receipt: nil
        )
      }
      #expect(word.contains("/email"))
      #expect(word.contains("/password"))
      #expect(word.contains("/role"))
      let rows = try TestDatabase.current.session().query(
        """
        select (select count(*) from events) + (select count(*) from email_claims)
             + (select count(*) from credentials) + (select count(*) from current_users)
        """
      )
      #expect(rows.integer(0, 0) == Int64(0))
    }
  }

  @Test func `keeps its receipt in the same transaction`() async throws {
    try await withAccounts { fixture async throws in
      let receipt = Receipt(key: [1], request: [2], answer: [3])
      let user = try await fixture.accounts.register(
        ["email": "ada@example.com", "password": .string(Fixture.password)],
        source: Source(),
        receipt: { _ in receipt }
      )
      let kept = try await fixture.accounts.receipt(under: [1])
      #expect(kept?.request == [2])
      #expect(kept?.answer == [3])
      #expect(kept?.createdAt == user.createdAt)
      // Another user under the same key: neither the user nor the claim stays.
      let word = await refusal {
        _ = try await fixture.accounts.register(
          ["email": "other@example.com", "password": .string(Fixture.password)],
          source: Source(),
          receipt: { _ in receipt }
        )
      }
      #expect(word == "receiptExists")
      #expect(try await fixture.accounts.receipt(under: [9]) == nil)
      _ = try await fixture.register("other@example.com")
    }
  }
}
