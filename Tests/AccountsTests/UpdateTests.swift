import Accounts
import EventLog
import JSON
import Postgres
import Profiles
import TestSupport
import Testing

@Suite("Updating a profile", .database)
struct UpdateTests {
  @Test func `loses nothing of eight writers on two loops`() async throws {
    let email = "ada@example.com"
    let token = try await withAccounts { fixture async throws in
      _ = try await fixture.register(email)
      return try await fixture.signIn(email).token
    }
    async let first: Void = Self.write(token, 0..<4)
    async let second: Void = Self.write(token, 4..<8)
    _ = try await (first, second)
    try await withAccounts { fixture async throws in
      let holder = try await fixture.accounts.holder(ofDigest: token.digest)
      #expect(holder.version == Version(1 + 8 * 15))
      let user = try User(
        document: holder.user.document,
        version: holder.version,
        accessVersion: .zero
      )
      for writer in 0..<8 {
        #expect(user.attributes["w\(writer)"] == .integer(14))
      }
    }
    #expect(try LogLaws().hold)
  }

  private static func write(_ token: Token, _ writers: Range<Int>) async throws {
    try await withAccounts { fixture async throws in
      let tasks = writers.map { writer in
        Task(executorPreference: fixture.loop) {
          for step in 0..<15 as Range<Int64> {
            let holder = try await fixture.accounts.holder(ofDigest: token.digest)
            _ = try await fixture.accounts.update(
              holder,
              by: try fixture.patch(["attributes": ["w\(writer)": .integer(step)]]),
              if: nil,
              source: Source(),
              receipt: nil
            )
          }
        }
      }
      for task in tasks { try await task.value }
    }
  }

  @Test func `appends nothing where nothing changes`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let holder = try await fixture.holder(try await fixture.signIn())
      let same = try await fixture.accounts.update(
        holder,
        by: try fixture.patch(["firstName": "Ada", "lastName": .null]),
        if: nil,
        source: Source(),
        receipt: nil
      )
      #expect(same.version == Version(1))
      #expect(same.updatedAt == holder.updatedAt)
      #expect(try fixture.types() == ["UserRegistered", "SignedIn"])
    }
  }

  @Test func `fails where the precondition doesn't hold, and tells the present state`()
    async throws
  {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let session = try await fixture.signIn()
      let old = try await fixture.holder(session)
      @Sendable func set(_ name: String, on version: Int32, by holder: Holder) async -> String {
        await refusal {
          _ = try await fixture.accounts.update(
            holder,
            by: try fixture.patch(["firstName": .string(name)]),
            if: { $0 == Version(version) },
            source: Source(),
            receipt: nil
          )
        }
      }
      #expect(await set("Augusta", on: 1, by: old) == "none")
      // The holder was read before: what counts is the state at the append.
      #expect(await set("Byron", on: 1, by: old) == "preconditionFailed at 2")
      let new = try await fixture.holder(session)
      #expect(await set("Byron", on: 2, by: new) == "none")
      let newest = try await fixture.holder(session)
      #expect(await set("Byron", on: 7, by: newest) == "preconditionFailed at 3")
      let changed = try await fixture.accounts.fieldsChanged(of: old.userID, since: Version(1))
      #expect(changed == ["firstName"])
    }
  }

  @Test func `lets one of several have a version that all were decided on`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let holder = try await fixture.holder(try await fixture.signIn())
      let tasks = (0..<8).map { number in
        Task(executorPreference: fixture.loop) {
          await refusal {
            _ = try await fixture.accounts.update(
              holder,
              by: try fixture.patch(["firstName": .string("Ada \(number)")]),
              if: { $0 == Version(1) },
              source: Source(),
              receipt: nil
            )
          }
        }
      }
      var words: [String] = []
      for task in tasks { words.append(await task.value) }
      #expect(words.filter { $0 == "none" }.count == 1)
      #expect(words.filter { $0 == "preconditionFailed at 2" }.count == 7)
    }
  }

  @Test func `gives the turn on after a refusal`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let holder = try await fixture.holder(try await fixture.signIn())
      for _ in 0..<3 {
        let word = await refusal {
          _ = try await fixture.accounts.update(
            holder,
            by: try fixture.patch(["firstName": "X"]),
            if: { _ in false },
            source: Source(),
            receipt: nil
          )
        }
        #expect(word == "preconditionFailed at 1")
      }
      let user = try await fixture.accounts.update(
        holder,
        by: try fixture.patch(["firstName": "X"]),
        if: nil,
        source: Source(),
        receipt: nil
      )
      #expect(user.version == Version(2))
    }
  }

  @Test func `keeps a receipt whether or not something changes`() async throws {
    try await withAccounts { fixture async throws in
      _ = try await fixture.register()
      let holder = try await fixture.holder(try await fixture.signIn())
      for (key, name) in [([1], "Augusta"), ([2], "Augusta")] as [([UInt8], JSON)] {
        _ = try await fixture.accounts.update(
          holder,
          by: try fixture.patch(["firstName": name]),
          if: nil,
          source: Source(),
          receipt: { _ in Receipt(key: key, request: [5], answer: [6]) }
        )
        #expect(try await fixture.accounts.receipt(under: key)?.answer == [6])
      }
      let word = await refusal {
        _ = try await fixture.accounts.update(
          holder,
          by: try fixture.patch(["firstName": "Other"]),
          if: nil,
          source: Source(),
          receipt: { _ in Receipt(key: [1], request: [5], answer: [6]) }
        )
      }
      #expect(word == "receiptExists")
      #expect(try LogLaws().events == 3)
    }
  }
}

@Suite("A receipt", .database)
struct ReceiptTests {
  @Test func `is forgotten after its time`() async throws {
    try await withAccounts { fixture async throws in
      let session = try TestDatabase.current.session()
      try session.script(
        """
        insert into command_receipts values ('\\x01', '', '', now() - interval '24 hours 1 second'),
                                            ('\\x02', '', '', now() - interval '23 hours')
        """
      )
      // Until it is forgotten its key is taken.
      #expect(try await fixture.accounts.receipt(under: [1]) != nil)
      fixture.accounts.tidy()
      try await fixture.loop.until { !fixture.accounts.hasDeferredWork }
      let rows = try session.query("select receipt_key from command_receipts")
      #expect(rows.count == 1)
      #expect(Array(rows.bytes(0, 0)) == [2])
    }
  }
}
