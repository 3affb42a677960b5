import Clocks
import EventLog
import EventLoop
import JSON
import Postgres
import Profiles
import Projections
import Sodium
import TestSupport
import Testing

@testable import Accounts

@Suite("An erasure", .database)
struct EraseTests {
  /// How many rows each table has of a user.
  private static func held(of user: UserID) throws -> [String: Int64] {
    var held: [String: Int64] = [:]
    for table in [
      "user_keys", "credentials", "sessions", "email_claims", "command_receipts",
      "current_users", "directory", "erasures",
    ] {
      var parameters = Parameters()
      parameters.add(user)
      held[table] = try TestDatabase.current.session().query(
        "select count(*) from \(table) where user_id = $1::uuid",
        parameters
      ).integer(0, 0)
    }
    return held.filter { $0.value > 0 }
  }

  /// The events of a user: type, whether there is a payload, and its digest in hexadecimal.
  private static func events(
    of user: UserID
  ) throws -> [(type: String, hasPayload: Bool, digest: String)] {
    var parameters = Parameters()
    parameters.add(user)
    let rows = try TestDatabase.current.session().query(
      """
      select type, payload is not null, encode(payload_sha256, 'hex') from events
       where user_id = $1::uuid order by position
      """,
      parameters
    )
    return (0..<rows.count).map {
      (rows.string($0, 0) ?? "", rows.bool($0, 1), rows.string($0, 2) ?? "")
    }
  }

  private static func receipt(_ number: UInt8) -> Receipt {
    Receipt(key: [number], request: [number], answer: [number])
  }

  private static func erase(_ fixture: Fixture, _ user: UserID) async throws -> Erasure {
    try await fixture.accounts.erase(user, by: .system, if: nil, source: Source(), receipt: nil)
  }

  private static func erase(
    _ fixture: Fixture,
    _ holder: Holder,
    password: String = Fixture.password
  ) async throws -> Erasure {
    try await fixture.accounts.erase(
      holder,
      password: try #require(Password(presented: password)),
      if: nil,
      source: Source(requestID: "r-1"),
      receipt: nil
    )
  }

  @Test func `leaves the headers of the events, and touches nobody else`() async throws {
    try await withAccounts { fixture async throws in
      let ada = try await fixture.register()
      let bob = try await fixture.register("bob@example.com")
      let session = try TestDatabase.current.session()
      try session.script(
        """
        insert into directory select user_id, 1, now(), 'ada@example.com', 'Ada', null, 1, ''
          from current_users where user_id = '\(ada.id)'
        """
      )
      let holder = try await fixture.holder(try await fixture.signIn())
      _ = try await fixture.signIn("bob@example.com")
      _ = try await fixture.accounts.update(
        holder,
        by: try fixture.patch(["firstName": "Augusta", "attributes": ["n": 1]]),
        if: nil,
        source: Source(),
        receipt: { _ in Self.receipt(1) }
      )
      let before = try Self.events(of: ada.id)
      let othersBefore = try Self.held(of: bob.id)
      #expect(try Self.held(of: ada.id).count == 7)

      let erasure = try await Self.erase(fixture, holder)
      #expect(erasure.position == Position(6))
      #expect(try Self.held(of: ada.id) == ["erasures": 1])
      #expect(try Self.held(of: bob.id) == othersBefore)
      let after = try Self.events(of: ada.id)
      #expect(after.map(\.type) == before.map(\.type) + ["UserErased"])
      #expect(after.allSatisfy { !$0.hasPayload })
      #expect(after.dropLast().map(\.digest) == before.map(\.digest))
      #expect(after.last?.digest == SHA256.digest(of: []).map { hexadecimal($0) }.joined())
      #expect(try Self.events(of: bob.id).allSatisfy { $0.hasPayload })
      let header = try session.query(
        "select actor_kind, actor_id, request_id, stream, version from events where position = 6"
      )
      #expect(header.integer(0, 0, as: Int16.self) == 1 && header.identifier(0, 1) == ada.id)
      #expect(header.string(0, 2) == "r-1")
      #expect(
        header.integer(0, 3, as: Int16.self) == 1 && header.integer(0, 4, as: Int32.self) == 3
      )
      #expect(try LogLaws().hold)
      #expect(
        await refusal { _ = try await fixture.accounts.holder(ofDigest: holder.tokenDigest) }
          == "unauthenticated"
      )
      #expect(await refusal { _ = try await fixture.signIn() } == "invalidCredentials")
      // The address is anybody's now.
      #expect(try await fixture.register().id != ada.id)
    }
  }

  @Test func `needs the right password, and changes nothing without`() async throws {
    try await withAccounts { fixture async throws in
      let ada = try await fixture.register()
      let holder = try await fixture.holder(try await fixture.signIn())
      let word = await refusal {
        _ = try await Self.erase(fixture, holder, password: "not the password")
      }
      #expect(word == "wrongPassword")
      #expect(try fixture.types() == ["UserRegistered", "SignedIn"])
      #expect(try Self.held(of: ada.id).count == 5)
    }
  }

  @Test func `happens once, and is the same when it is asked for again`() async throws {
    try await withAccounts { fixture async throws in
      let ada = try await fixture.register()
      let tasks = (0..<8).map { _ in
        Task(executorPreference: fixture.loop) { try await Self.erase(fixture, ada.id) }
      }
      var erasures: Set<Erasure> = []
      for task in tasks { erasures.insert(try await task.value) }
      #expect(erasures.count == 1)
      #expect(try await fixture.accounts.erasure(of: ada.id) == erasures.first)
      #expect(try fixture.types() == ["UserRegistered", "UserErased"])
      let nobody = UserID(at: .now())
      #expect(await refusal { _ = try await Self.erase(fixture, nobody) } == "notFound")
      for moment in [PastUser.Moment.version(Version(1)), .instant(.now())] {
        await #expect(throws: AccountsError.self) {
          _ = try await fixture.accounts.user(ada.id, at: moment)
        }
      }
      let word = await refusal { _ = try await fixture.accounts.user(ada.id) }
      #expect(word.hasPrefix("erased(") && word.contains("\(ada.id)"))
    }
  }

  @Test func `holds to the version that it was asked for`() async throws {
    try await withAccounts { fixture async throws in
      let ada = try await fixture.register()
      func erase(_ wanted: Version) async throws {
        _ = try await fixture.accounts.erase(
          ada.id,
          by: .system,
          if: { $0 == wanted },
          source: Source(),
          receipt: nil
        )
      }
      #expect(await refusal { try await erase(Version(2)) } == "preconditionFailed at 1")
      #expect(try fixture.types() == ["UserRegistered"])
      try await erase(Version(1))
      #expect(try fixture.types() == ["UserRegistered", "UserErased"])
    }
  }

  @Test func `keeps no answer about whoever is gone`() async throws {
    try await withAccounts { fixture async throws in
      let ada = try await fixture.register()
      let holder = try await fixture.holder(try await fixture.signIn())
      let erasing = Receipt(key: [9], request: [9], answer: [9])
      _ = try await fixture.accounts.erase(
        ada.id,
        by: .system,
        if: nil,
        source: Source(),
        receipt: erasing
      )
      // A command that changes nothing keeps its answer without an event.
      try await fixture.accounts.keep([Self.receipt(1)], about: holder.userID)
      let rows = try TestDatabase.current.session().query(
        "select receipt_key, user_id is null from command_receipts"
      )
      #expect(rows.count == 1)
      #expect(Array(rows.bytes(0, 0)) == [9] && rows.bool(0, 1))
    }
  }

  @Test(arguments: 1...3)
  func `is the last event, whatever is under way`(round: Int) async throws {
    try await withAccounts { fixture async throws in
      let ada = try await fixture.register()
      let holder = try await fixture.holder(try await fixture.signIn())
      let allowed: Set = [
        "none", "unauthenticated", "invalidCredentials", "notFound", "wrongPassword",
      ]
      var tasks: [Task<String, Never>] = []
      for number in 0..<40 as Range<Int64> {
        tasks.append(
          Task(executorPreference: fixture.loop) {
            await refusal {
              _ = try await fixture.accounts.update(
                holder,
                by: try fixture.patch(["attributes": ["n": .integer(number)]]),
                if: nil,
                source: Source(session: holder.session),
                receipt: { _ in Self.receipt(UInt8(number)) }
              )
            }
          }
        )
        if number % 10 == 0 {
          tasks.append(
            Task(executorPreference: fixture.loop) {
              await refusal { _ = try await fixture.signIn() }
            }
          )
        }
        if number == 20 {
          tasks.append(
            Task(executorPreference: fixture.loop) {
              await refusal { _ = try await fixture.changePassword(holder) }
            }
          )
          tasks.append(
            Task(executorPreference: fixture.loop) {
              await refusal { _ = try await Self.erase(fixture, ada.id) }
            }
          )
        }
      }
      var words: Set<String> = []
      for task in tasks { words.insert(await task.value) }
      #expect(words.isSubset(of: allowed), "\(words)")
      #expect(try fixture.types().last == "UserErased")
      #expect(try fixture.types().filter { $0 == "UserErased" }.count == 1)
      #expect(try Self.held(of: ada.id) == ["erasures": 1])
      #expect(try Self.events(of: ada.id).allSatisfy { !$0.hasPayload })
      #expect(try LogLaws().hold)
    }
  }
}

private func hexadecimal(_ byte: UInt8) -> String {
  (byte < 16 ? "0" : "") + String(byte, radix: 16)
}
