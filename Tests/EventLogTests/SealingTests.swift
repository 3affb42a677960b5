import EventLog
import EventLoop
import JSON
import Keys
import Postgres
import Profiles
import TestSupport
import Testing

@Suite("A sealed payload", .database)
struct SealingTests {
  /// Ada's and Charles's log: of each a registration, two updates in one batch, a failed sign-in.
  private static func write() async throws -> [NewEvent] {
    try await withLane { loop, lane, _ in
      var all: [NewEvent] = []
      for email in ["ada@example.com", "charles@example.com"] {
        var (user, event) = try TestUser.new(email)
        _ = try await lane.append(event)
        all.append(event)
        var events: [NewEvent] = []
        for name in ["Augusta", "Annabella"] {
          (user, event) = try TestUser.update(user, ["firstName": .string(name)])
          events.append(event)
        }
        events.append(TestUser.access(user.id, after: .zero))
        for outcome in await outcomes(events, loop, lane) { _ = try outcome.get() }
        all += events
      }
      return all
    }
  }

  private static func read(_ keyring: Keyring = TestKeys.keyring) throws -> [RecordedEvent] {
    EventReader.events(
      try TestDatabase.current.session().query(
        "select \(RecordedEvent.columns) from events order by position"
      ),
      keyring
    )
  }

  @Test func `opens to what was sealed, each of a chain at its own version`() async throws {
    let written = try await Self.write()
    let read = try Self.read()
    #expect(try read.map { try $0.event() } == written.map(\.event))
    #expect(read.allSatisfy { $0.unreadable == nil && !$0.isErased })
  }

  @Test func `tells nothing of the text, and its digest is that of what is stored`() async throws {
    _ = try await Self.write()
    let rows = try TestDatabase.current.session().query(
      """
      select bool_and(get_byte(payload, 0) = 1), bool_and(payload_sha256 = sha256(payload)),
             bool_or(position('changes'::bytea in payload) > 0
                     or position('Augusta'::bytea in payload) > 0), count(*)
        from events
      """
    )
    #expect(rows.bool(0, 0))
    #expect(rows.bool(0, 1))
    #expect(!rows.bool(0, 2))
    #expect(rows.integer(0, 3) == Int64(8))
  }

  @Test(arguments: [
    // Ada's third event of the profile is at 3, Charles's at 7.
    "payload = (select payload from events where position = 7)",
    "payload = (select payload from events where position = 2)",
    "version = 9", "type = 'EmailChanged'", "stream = 2, version = 7",
    "payload = set_byte(payload, 30, get_byte(payload, 30) # 1)",
    "payload = set_byte(payload, 5, get_byte(payload, 5) # 1)",
    "payload = set_byte(payload, 0, 2)", #"payload = '\x01'"#,
    #"payload = '{"changes":[],"source":{}}'"#,
  ])
  func `doesn't open at another place, or once it was altered`(change: String) async throws {
    _ = try await Self.write()
    try TestDatabase.current.session().script("update events set \(change) where position = 3")
    let events = try Self.read()
    let altered = events[2]
    #expect(altered.payload.isEmpty)
    #expect(altered.unreadable == "the payload of \(altered.type) does not open")
    #expect(throws: EventReadingError.self) { try altered.event() }
    #expect(String(decoding: altered.historyEntry, as: UTF8.self).contains("\"changes\":null"))
    // Its neighbours do.
    for event in [events[1], events[3], events[6]] { _ = try event.event() }
  }

  @Test func `of a form that this release doesn't know is one of a newer release`() async throws {
    _ = try await Self.write()
    try TestDatabase.current.session().script("update events set schema = 2 where position = 3")
    let error = #expect(throws: EventReadingError.self) { try Self.read()[2].event() }
    #expect(error == .coding(.unknown(type: "ProfileUpdated", schema: 2)))
  }

  @Test func `doesn't open without the user's key, with another user's, or an unknown master key`()
    async throws
  {
    let user = try await Self.write()[0].user
    let session = try TestDatabase.current.session()
    for (damage, reason) in [
      ("update user_keys set master_key = 9", "the key file has no master key 9"),
      (
        """
        update user_keys set wrapped_key = (select wrapped_key from user_keys
                                             where user_id <> '\(user)')
        """, "master key 1 does not open the user's key"
      ),
      ("delete from user_keys", "the user's key is gone"),
    ] {
      try session.script("begin; \(damage) where user_id = '\(user)'")
      let rows = try session.query(
        "select \(RecordedEvent.columns) from events order by position"
      )
      let events = EventReader.events(rows, TestKeys.keyring)
      for event in events[..<4] { #expect(event.unreadable == reason) }
      for event in events[4...] { #expect(event.unreadable == nil) }
      try session.script("rollback")
    }
  }

  @Test func `may be missing, and is read as it is while a log is being sealed`() async throws {
    _ = try await Self.write()
    try TestDatabase.current.session().script(
      #"""
      update events set payload = null where position = 2;
      update events set payload = '{"changes":[]}' where position = 3
      """#
    )
    let events = try Self.read(TestKeys.lenient)
    #expect(events[1].payloadState == .lost)
    #expect(events[1].payload.isEmpty)
    #expect(events[2].payload == Array(#"{"changes":[]}"#.utf8))
    _ = try events[3].event()
  }
}

@Suite("A payload that is gone", .database)
struct MissingPayloadTests {
  @Test(arguments: [
    RecordedEvent.columns, RecordedEvent.columnsOfMany, RecordedEvent.headerColumns,
  ])
  func `went with its user, or was lost`(columns: String) async throws {
    try await withLane { _, lane, _ in
      for email in ["ada@example.com", "charles@example.com", "grace@example.com"] {
        _ = try await lane.append(TestUser.new(email).event)
      }
    }
    let session = try TestDatabase.current.session()
    try session.script(
      """
      update events set payload = null where position > 1;
      insert into erasures select user_id, 4, now() from events where position = 2
      """
    )
    let events = EventReader.events(
      try session.query("select \(columns) from \(RecordedEvent.eventsOfMany) order by position"),
      TestKeys.keyring
    )
    #expect(events.map(\.payloadState) == [.stored, .erased, .lost])
    #expect(events.map(\.isErased) == [false, true, false])
    let reason = "the payload is gone, and the user has not been erased"
    #expect(events.map(\.unreadable) == [nil, nil, reason])
    #expect(throws: EventReadingError.coding(.erased(type: "UserRegistered"))) {
      try events[1].event()
    }
    #expect(throws: EventReadingError.sealed(reason: reason)) { try events[2].event() }
    let entries = events.map { String(decoding: $0.historyEntry, as: UTF8.self) }
    #expect(entries.map { $0.contains("\"erased\":true") } == [false, true, false])
    #expect(entries[2].contains("\"changes\":null"))
  }
}

@Suite("The access stream", .database)
struct AccessStreamTests {
  @Test func `takes an event that was decided on its last version, and no other`() async throws {
    let words = try await withLane { loop, lane, _ in
      let (user, event) = try TestUser.new()
      _ = try await lane.append(event)
      func access(_ after: Int32) -> NewEvent { TestUser.access(user.id, after: Version(after)) }
      var words = await outcomes([access(0), access(1), access(1), access(0)], loop, lane).map(word)
      for after in [1, 2, 4] as [Int32] { words.append(word(await lane.outcome(access(after)))) }
      return words
    }
    #expect(
      words == [
        "version 1", "version 2", "versionConflict", "versionConflict",
        "versionConflict", "version 3", "versionConflict",
      ]
    )
    #expect(try LogLaws().hold)
  }

  @Test func `that fails breaks no chain of the profile`() async throws {
    let words = try await withLane { loop, lane, _ in
      var (user, event) = try TestUser.new()
      _ = try await lane.append(event)
      var events = [TestUser.access(user.id, after: Version(3))]
      for name in ["A", "B"] {
        (user, event) = try TestUser.update(user, ["firstName": .string(name)])
        events.append(event)
      }
      return await outcomes(events, loop, lane).map(word)
    }
    #expect(words == ["versionConflict", "version 2", "version 3"])
    #expect(try LogLaws().hold)
  }
}

@Suite("The key of a new user", .database)
struct UserKeyTests {
  private static func service() throws -> BlockingConnection {
    try BlockingConnection(
      target: TestDatabase.current.target,
      applicationName: "service",
      setup: ["set role jejak_service"]
    )
  }

  private static let add = "select add_user_key(gen_random_uuid(), "

  @Test func `is refused where another master key is in use`() throws {
    let session = try Self.service()
    try session.script(Self.add + "1, 'x')")
    let failure = #expect(throws: BlockingConnection.Failure.self) {
      try session.script(Self.add + "2, 'x')")
    }
    #expect(failure?.sqlState == "JJ004")
    #expect(try session.query("select from user_keys").count == 1)
  }

  @Test func `is waited for by whoever takes another master key into use`() throws {
    let session = try Self.service()
    try session.script("begin; " + Self.add + "1, 'x')")
    let owner = try TestDatabase.current.session()
    let failure = #expect(throws: BlockingConnection.Failure.self) {
      try owner.script("set lock_timeout = '50ms'; update sealing set master_key = 2")
    }
    #expect(failure?.sqlState == "55P03")
    try session.script("commit")
    try owner.script("update sealing set master_key = 2")
  }

  @Test(arguments: [
    "insert into user_keys values (gen_random_uuid(), 1, '')",
    "update user_keys set master_key = 1",
    "delete from user_keys", "update sealing set master_key = 2", "delete from sealing",
  ])
  func `is made by that function alone`(statement: String) throws {
    let session = try Self.service()
    let failure = #expect(throws: BlockingConnection.Failure.self) {
      try session.script(statement)
    }
    #expect(failure?.sqlState == "42501")
  }

  @Test func `of a log that has a master key in use changes nothing of that`() throws {
    let session = try Self.service()
    try session.script(#"select use_master_key(7, '\x07')"#)
    #expect(try session.query("select master_key from sealing").integer(0, 0) == Int32(1))
  }
}
