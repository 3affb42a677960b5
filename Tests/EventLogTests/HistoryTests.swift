import Clocks
import EventLog
import EventLoop
import JSON
import Postgres
import Profiles
import TestSupport
import Testing

@Suite("A history", .database)
struct HistoryTests {
  /// The versions on the pages of a history, in the order they are read.
  private static func versions(
    _ connection: Connection,
    _ user: UserID,
    _ stream: Event.Stream,
    _ order: History.Order,
    limit: Int
  ) async throws -> [[Int32]] {
    var pages: [[Int32]] = []
    var cursor: Version?
    while true {
      let (statement, parameters) = History.page(
        of: user,
        stream: stream,
        order: order,
        after: cursor,
        limit: limit
      )
      let rows = try await connection.run(statement, parameters)
      let events = TestKeys.events(rows)
      guard let last = events.last else { return pages }
      pages.append(events.map(\.version.rawValue))
      cursor = last.version
    }
  }

  @Test func `is read page by page, in both orders, each stream by itself`() async throws {
    try await withLane { loop, lane, connection in
      var (user, event) = try TestUser.new()
      let other = try TestUser.new("other@example.com").event
      _ = await outcomes([event, other], loop, lane)
      var events: [NewEvent] = []
      for number in 0..<6 as Range<Int64> {
        (user, event) = try TestUser.update(user, ["attributes": ["n": .integer(number)]])
        events += [event, TestUser.access(user.id, after: Version(Int32(number)))]
      }
      for outcome in await outcomes(events, loop, lane) { _ = try outcome.get() }
      let id = user.id
      let newest = try await Self.versions(connection, id, .profile, .newestFirst, limit: 3)
      #expect(newest == [[7, 6, 5], [4, 3, 2], [1]])
      let oldest = try await Self.versions(connection, id, .profile, .oldestFirst, limit: 4)
      #expect(oldest == [[1, 2, 3, 4], [5, 6, 7]])
      let access = try await Self.versions(connection, id, .access, .newestFirst, limit: 10)
      #expect(access == [[6, 5, 4, 3, 2, 1]])
      let none = try await Self.versions(
        connection,
        UserID(at: .now()),
        .profile,
        .newestFirst,
        limit: 10
      )
      #expect(none.isEmpty)
    }
  }

  @Test func `tells who, when, from where, and every value`() async throws {
    let (entry, appended) = try await withLane { _, lane, connection in
      let session = SessionID(at: .now())
      var (user, event) = try TestUser.new()
      _ = try await lane.append(event)
      try TestDatabase.current.session().script(
        """
        insert into sessions (session_id, user_id, token_sha256, created_at, last_used_at,
                              expires_at)
          values ('\(session)', '\(user.id)', '', now(), now(), now())
        """
      )
      (user, event) = try TestUser.update(user, ["firstName": "Augusta"])
      event = event.with(
        source: Source(
          address: "192.0.2.7",
          agent: "test/1",
          session: session,
          requestID: "request-1",
          traceID: "trace-1"
        )
      )
      let appended = try await lane.append(event)
      let (statement, parameters) = History.page(
        of: user.id,
        stream: .profile,
        order: .newestFirst,
        after: nil,
        limit: 1
      )
      let recorded = try #require(
        TestKeys.events(try await connection.run(statement, parameters)).first
      )
      #expect(try recorded.event() == event.event)
      let expected: JSON = [
        "position": 2, "version": 2, "stream": "profile", "type": "ProfileUpdated",
        "recordedAt": .string(appended.recordedAt.description),
        "actor": ["kind": "user", "id": .string(user.id.description)],
        "source": [
          "address": "192.0.2.7", "agent": "test/1", "session": .string(session.description),
          "requestId": "request-1", "traceId": "trace-1",
        ],
        "changes": [["field": "firstName", "old": "Ada", "new": "Augusta"]],
      ]
      return ((try JSON.parse(recorded.historyEntry), expected), appended)
    }
    #expect(entry.0 == entry.1)
    #expect(appended.position == Position(2))
  }

  @Test(arguments: [
    #"quote " inside"#, #"back\slash"#, #"{brace,comma}"#, #"\"#, #"""#, "NULL", "é 🚀",
  ])
  func `keeps the names of changed fields as they are`(name: String) async throws {
    try await withLane { _, lane, _ in
      let (user, event) = try TestUser.new()
      _ = try await lane.append(event)
      let update = try TestUser.update(
        user,
        ["attributes": .object(JSONObject([.init(key: name, value: 1)]))]
      )
      _ = try await lane.append(update.event)
    }
    let rows = try TestDatabase.current.session().query(
      "select cardinality(changed), changed[1] from events order by position desc limit 1"
    )
    #expect(rows.integer(0, 0) == Int32(1))
    #expect(rows.string(0, 1) == "attributes.\(name)")
  }
}
