import EventLog
import EventLoop
import JSON
import Postgres
import Profiles
import TestSupport
import Testing

@Suite("A strict append", .database)
struct StrictTests {
  @Test func `undoes all of its transaction where one version is not the expected one`()
    async throws
  {
    try await withLane { loop, lane, connection in
      let (ada, first) = try TestUser.new("ada@example.com")
      let (charles, second) = try TestUser.new("charles@example.com")
      _ = await outcomes([first, second], loop, lane)
      let right = try TestUser.update(ada, ["firstName": "Augusta"]).event
      let stale = try TestUser.update(charles, ["firstName": "Charles"]).event
        .with(expected: Version(9))
      let parameters = AppendStatement.parameters([right, stale], strict: true)
      let error = await #expect(throws: PostgresError.self) {
        try await connection.run(AppendStatement.statement, parameters)
      }
      guard case .refused(let refusal)? = error else {
        Issue.record("another error: \(String(describing: error))")
        return
      }
      #expect(refusal.sqlState == "JJ001")
      #expect(word(.failure(AppendError(.refused(refusal)))) == "versionConflict")
      #expect(try LogLaws().events == 2)
      // The one that was right can still be appended.
      let appended = try await lane.append(right)
      #expect(appended.version == Version(2))
    }
    #expect(try LogLaws().hold)
  }

  @Test func `leaves no receipt and no event where a later step fails`() async throws {
    try await withLane { _, _, connection in
      let event = try TestUser.new().event
        .with(receipt: Receipt(key: [1], request: [2], answer: [3]))
      let parameters = AppendStatement.parameters([event], strict: true)
      await #expect(throws: PostgresError.self) {
        try await connection.transaction([
          (AppendStatement.statement, parameters), (Statement("unknown", ""), Parameters()),
        ])
      }
    }
    #expect(try LogLaws().events == 0)
    let rows = try TestDatabase.current.session().query(
      "select (select count(*) from command_receipts) + (select count(*) from current_users)"
    )
    #expect(rows.integer(0, 0) == Int64(0))
  }
}
