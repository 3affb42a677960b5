import Clocks
import EventLog
import JSON
import MerkleTree
import Postgres
import Profiles
import Sodium
import TestSupport
import Testing

@Suite("A log entry")
struct LogEntryTests {
  private static let details = LogDetails(
    type: "ProfileUpdated",
    requestID: "req-1",
    traceID: nil,
    changed: ["firstName", "größe"]
  )

  private func entry(actorID: Identifier<Actor>?) throws -> LogEntry {
    LogEntry(
      position: Position(5),
      recordedAt: Timestamp(microseconds: 1_796_000_000_123_456),
      user: UserID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F),
      event: EventID(high: 0x1011_1213_1415_1617, low: 0x1819_1A1B_1C1D_1E1F),
      stream: 1,
      version: Version(3),
      schema: 2,
      actorKind: 1,
      actorID: actorID,
      details: Self.details.digest,
      payload: try #require(SHA256.Digest(SHA256.digest(of: "{}".utf8)))
    )
  }

  /// Computed from the description of the form alone, by another program.
  private static let known =
    "01000000000000000500066173d6062240000102030405060708090a0b0c0d0e0f1011121314151617"
    + "18191a1b1c1d1e1f0100000003000201202122232425262728292a2b2c2d2e2f"
    + "cde46f3d89700fe1ed0e16b24f1f25f499fd829f7276dd51026f466dd1751471"
    + "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

  @Test func `has the known bytes and the known leaf`() throws {
    let actor = Identifier<Actor>(high: 0x2021_2223_2425_2627, low: 0x2829_2A2B_2C2D_2E2F)
    let entry = try entry(actorID: actor)
    #expect(hexadecimal(entry.bytes) == Self.known)
    #expect(
      hexadecimal(entry.leaf.bytes)
        == "c6b3880aff0f0dc37c5affa2aad29a771251d8c67a37dbd130886b84969def8f"
    )
    #expect(entry.index == 4)
    #expect(LogEntry(entry.bytes) == entry)
  }

  @Test func `has zeros for an actor without an id`() throws {
    let entry = try entry(actorID: nil)
    #expect(entry.bytes[57..<73].allSatisfy { $0 == 0 })
    #expect(LogEntry(entry.bytes) == entry)
  }

  @Test func `is nothing of another form or length`() throws {
    let bytes = try entry(actorID: nil).bytes
    #expect(LogEntry([2] + bytes.dropFirst()) == nil)
    #expect(LogEntry(Array(bytes.dropLast())) == nil)
    #expect(LogEntry(bytes + [0]) == nil)
    #expect(LogEntry([]) == nil)
  }

  @Test func `tells details apart that look alike when written one behind the other`() {
    let details = [
      LogDetails(type: "ab", requestID: "c", traceID: "", changed: []),
      LogDetails(type: "a", requestID: "bc", traceID: "", changed: []),
      LogDetails(type: "ab", requestID: "c", traceID: nil, changed: []),
      LogDetails(type: "ab", requestID: nil, traceID: "c", changed: []),
      LogDetails(type: "ab", requestID: "c", traceID: "", changed: [""]),
      LogDetails(type: "ab", requestID: "c", traceID: "", changed: ["x", "y"]),
      LogDetails(type: "ab", requestID: "c", traceID: "", changed: ["xy"]),
    ]
    #expect(Set(details.map(\.digest)).count == details.count)
  }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

@Suite("A log entry of a row", .database)
struct LogEntryRowTests {
  private func rows(_ session: borrowing BlockingConnection) throws -> Rows {
    try session.query("select 0, \(LogEntry.columns) from events order by position")
  }

  @Test func `is that of the event`() async throws {
    let (user, registered) = try TestUser.new()
    let (_, update) = try TestUser.update(user, ["firstName": "Augusta", "lastName": "King"])
    let source = Source(requestID: "größe", traceID: "0af7651916cd43dd8448eb211c80319c")
    let events = [registered, update.with(source: source), TestUser.access(user.id, after: .zero)]
    try await withLane { _, lane, _ in
      for event in events { _ = try await lane.append(event) }
    }
    let session = try TestDatabase.current.session()
    let rows = try rows(session)
    let recorded = try session.query(
      "select \(RecordedEvent.columns), payload_sha256 from events order by position"
    )
    try #require(rows.count == events.count)
    for row in 0..<rows.count {
      let event = RecordedEvent(header: recorded, row)
      let expected = LogEntry(
        position: event.position,
        recordedAt: event.recordedAt,
        user: event.user,
        event: events[row].id,
        stream: UInt8(event.stream),
        version: event.version,
        schema: event.schema,
        actorKind: UInt8(event.actor.kind),
        actorID: event.actor.id,
        details: LogDetails(
          type: event.type,
          requestID: event.requestID,
          traceID: event.traceID,
          changed: event.changed
        ).digest,
        payload: try #require(SHA256.Digest(recorded.bytes(row, RecordedEvent.columnCount)))
      )
      #expect(LogEntry(rows, row, from: 1) == expected)
    }
  }

  /// What the table's owner may do to an event, and the tree has to notice.
  @Test(arguments: [
    "position = 7", "recorded_at = recorded_at + interval '1 microsecond'",
    "user_id = gen_random_uuid()", "event_id = gen_random_uuid()", "actor_id = gen_random_uuid()",
    "actor_id = null", "version = 2", "stream = 2", "schema = schema + 1", "actor_kind = 2",
    "type = 'EmailChanged'", "request_id = ''", "trace_id = 'x'", "changed = changed || 'x'::text",
    "changed = changed || null::text", "changed = array[changed, changed]",
    "changed = ('[2:2]={' || changed[1] || '}')::text[]", "payload_sha256 = sha256('x')",
    "payload_sha256 = payload_sha256 || '\\x00'", "payload_sha256 = ''",
  ])
  func `is another one where any column is`(change: String) async throws {
    let (_, registered) = try TestUser.new()
    try await withLane { _, lane, _ in _ = try await lane.append(registered) }
    let session = try TestDatabase.current.session()
    let before = try #require(LogEntry(try rows(session), 0, from: 1))
    try session.script(
      "alter table events drop constraint events_changed_is_a_list; update events set \(change)"
    )
    let after = LogEntry(try rows(session), 0, from: 1)
    #expect(after?.leaf != before.leaf)
  }

  @Test func `is none of numbers that have no place in it`() async throws {
    let (_, registered) = try TestUser.new()
    try await withLane { _, lane, _ in _ = try await lane.append(registered) }
    let session = try TestDatabase.current.session()
    try session.script(
      """
      alter table events drop constraint events_stream_is_known;
      update events set stream = 257
      """
    )
    #expect(LogEntry(try rows(session), 0, from: 1) == nil)
  }
}
