import EventLoop
import Postgres
import TestSupport
import Testing

@Suite("A connection that breaks", .emptyDatabase)
struct ReconnectTests {
  @Test func `fails what is under way as lost, and stands again by itself`() async throws {
    let database = try TestDatabase.current
    let reports = Reports()
    try await withConnection(reports: reports) { loop, connection in
      let lost = LoopBound(0, on: loop)
      for step in [Statements.wait, Statements.echo] {
        connection.send([(step, Statements.bind(600))]) { outcome in
          if case .failure(.connectionLost) = outcome { lost.value += 1 }
        }
      }
      try await loop.until {
        let session = try database.superuserSession()
        return try session.query("select from pg_stat_activity where wait_event = 'PgSleep'")
          .count > 0
      }
      #expect(try database.terminate("connection under test") == 1)
      try await loop.until { lost.value == 2 }
      #expect(!connection.isReady)
      guard case .failure(.unavailable) = await connection.outcome([]) else {
        Issue.record("an exchange was taken without a connection")
        return
      }
      try await loop.until { connection.isReady }
      // Its statements are there again.
      let rows = try await connection.run(Statements.echo, Statements.bind(7))
      #expect(rows.integer(0, 0) == Int64(7))
    }
    #expect(reports.all.contains { $0.contains("57P01") })
  }

  @Test func `at rest is noticed too`() async throws {
    let database = try TestDatabase.current
    try await withConnection { loop, connection in
      for _ in 0..<3 {
        try database.terminate("connection under test")
        try await loop.until { !connection.isReady }
        try await loop.until { connection.isReady }
      }
      _ = try await connection.run(Statements.echo, Statements.bind(7))
    }
  }

  @Test func `counts as lost when no answer comes in time`() async throws {
    let reports = Reports()
    try await withConnection(
      configure: { $0.answerTimeout = .milliseconds(100) },
      reports: reports
    ) { loop, connection in
      guard
        case .failure(.connectionLost) = await connection.outcome([
          (Statements.wait, Statements.bind(600))
        ])
      else {
        Issue.record("no answer was waited for without an end")
        return
      }
      try await loop.until { connection.isReady }
    }
    #expect(reports.all.contains { $0.contains("no answer within") })
  }

  @Test func `isn't lost where a long line is answered one after the other`() async throws {
    let reports = Reports()
    try await withConnection(
      configure: { $0.answerTimeout = .seconds(2) },
      reports: reports
    ) { loop, connection in
      let answered = LoopBound(0, on: loop)
      let length = 5
      for _ in 0..<length {
        connection.send([(Statements.wait, Statements.bind(1))]) { outcome in
          if case .success = outcome { answered.value += 1 }
        }
      }
      try await loop.until { connection.pending == 0 }
      #expect(answered.value == length)
    }
    #expect(reports.all.isEmpty)
  }

  @Test func `is unavailable while the server is away, and says so without line breaks`()
    async throws
  {
    let reports = Reports()
    try await withConnection(
      configure: { $0.target = "postgresql://nobody@/none?host=%2Fproc%2Fnowhere" },
      reports: reports,
      isReady: false
    ) { loop, connection in
      guard case .failure(.unavailable) = await connection.outcome([]) else {
        Issue.record("an exchange was taken without a connection")
        return
      }
      try await loop.until { reports.all.count >= 3 }
      #expect(!connection.isReady)
    }
    #expect(reports.all.allSatisfy { $0.contains("/proc/nowhere") })
    #expect(reports.all.allSatisfy { !$0.contains { $0.isNewline } })
  }

  @Test func `never stands where its set-up is refused`() async throws {
    let reports = Reports()
    try await withConnection(
      configure: { $0.setup = ["set role nobody_at_all"] },
      reports: reports,
      isReady: false
    ) { loop, connection in
      try await loop.until { reports.all.count >= 3 }
      #expect(!connection.isReady)
    }
    #expect(reports.all.allSatisfy { $0.hasPrefix("SQLSTATE 22023") })
  }

  @Test func `is made anew when the server has become read-only`() async throws {
    let database = try TestDatabase.current
    try await withConnection { loop, connection in
      try database.superuserSession().script(
        "alter database \(database.name) set default_transaction_read_only = on"
      )
      try database.terminate("connection under test")
      try await loop.until { !connection.isReady }
      try await loop.until { connection.isReady }
      guard
        case .failure(.connectionLost) = await connection.outcome([
          (Statements.add, Statements.bind(1))
        ])
      else {
        Issue.record("a read-only server was kept")
        return
      }
      let session = try database.superuserSession()
      try session.script("set default_transaction_read_only = off")
      try session.script(
        "alter database \(database.name) set default_transaction_read_only = off"
      )
      try database.terminate("connection under test")
      try await loop.until { connection.isReady }
      try await loop.until {
        if case .success = await connection.outcome([(Statements.add, Statements.bind(1))]) {
          true
        } else {
          false
        }
      }
    }
  }

  @Test func `once closed fails what is under way, and stays closed`() async throws {
    try await withConnection { loop, connection in
      let lost = LoopBound(0, on: loop)
      connection.send([(Statements.wait, Statements.bind(600))]) { outcome in
        if case .failure(.connectionLost) = outcome { lost.value += 1 }
      }
      connection.close()
      connection.close()
      #expect(lost.value == 1)
      connection.open()
      // The first attempt to connect again would come after 25 ms.
      await loop.sleep(for: .milliseconds(26))
      #expect(!connection.isReady)
    }
  }
}
