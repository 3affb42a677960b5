import EventLog
import EventLoop
import Postgres
import Projections
import TestSupport
import Testing

@Suite("The runner", .database)
struct RunnerTests {
  @Test func `takes in what is there and what comes`() async throws {
    let writer = try TestDatabase.current.session()
    try LogWriter.append(30, writer)
    try await withRunner { loop, _ in
      let writer = try TestDatabase.current.session()
      try await loop.until { try state(of: "recorded").position == Position(30) }
      try LogWriter.append(3, writer)
      try await loop.until { try state(of: "counted").position == Position(33) }
      try LogWriter.append(3, notifies: false, writer)
      try await loop.until { try state(of: "counted").position == Position(36) }
      #expect(try RecordingTables.recordedIsLog(to: 36))
      #expect(try RecordingTables.countedIsLog(to: 36))
      #expect(try state(of: "counted").lag == 0)
    }
  }

  @Test(arguments: [1, 2, 9])
  func `takes in large events a few at a time`(bytes: Int) async throws {
    // Each has two bytes of payload.
    try LogWriter.append(20, TestDatabase.current.session())
    var pace = RunnerPace()
    pace.batchBytes = bytes
    pace.poll = .seconds(600)
    try await withRunner(pace: pace) { loop, _ in
      for name in ["recorded", "counted"] {
        try await loop.until { try state(of: name).position == Position(20) }
      }
      #expect(try RecordingTables.recordedIsLog(to: 20))
      #expect(try RecordingTables.countedIsLog(to: 20))
    }
  }

  @Test(arguments: [1, 2, 7, 64])
  func `stops before an event that it can't take in, and lets the others go on`(
    batch: Int
  )
    async throws
  {
    let types = Array(repeating: "SignInFailed", count: 12) + ["Poison"]
    try LogWriter.append(20, types: types, TestDatabase.current.session())
    var pace = RunnerPace()
    pace.batch = batch
    try await withRunner(pace: pace) { loop, reports in
      let session = try TestDatabase.current.session()
      try await loop.until { try state(of: "counted").stop != nil }
      try await loop.until { try state(of: "recorded").lag == 0 }
      let stopped = try state(of: "counted")
      #expect(stopped.position == Position(12))
      #expect(stopped.stop?.position == Position(13))
      #expect(stopped.stop?.reason == "it can't be counted")
      #expect(stopped.condition == .stopped)
      #expect(try RecordingTables.countedIsLog(to: 12))
      // Resumed before anything is mended, it stops at the same event.
      #expect(try ProjectionState.resume("counted", session) == stopped.stop)
      try await loop.until { reports.stopped.count == 2 }
      #expect(reports.stopped.map(\.position) == [13, 13])
      try session.script("update events set type = 'SignedIn' where type = 'Poison'")
      try LogWriter.append(4, session)
      _ = try ProjectionState.resume("counted", session)
      try await loop.until { try state(of: "counted").lag == 0 }
      #expect(try RecordingTables.countedIsLog(to: 24))
      #expect(try RecordingTables.recordedIsLog(to: 24))
      #expect(try ProjectionState.resume("counted", session) == nil)
    }
  }

  @Test func `stops where the database refuses a row, without telling its values`() async throws {
    try await withRunner { loop, reports in
      let session = try TestDatabase.current.session()
      try session.script(
        "alter table recorded add constraint no_seven check (position <> 7)"
      )
      try LogWriter.append(9, session)
      try await loop.until { try state(of: "recorded").stop != nil }
      #expect(try state(of: "recorded").position == Position(6))
      #expect(try state(of: "recorded").stop?.reason == "SQLSTATE 23514: refused")
      try await loop.until { try state(of: "counted").lag == 0 }
      try session.script("alter table recorded drop constraint no_seven")
      _ = try ProjectionState.resume("recorded", session)
      try await loop.until { try state(of: "recorded").lag == 0 }
      #expect(try RecordingTables.recordedIsLog(to: 9))
    }
  }

  @Test func `tries a stopped one again when a new term begins`() async throws {
    try await withRunner { loop, reports in
      let session = try TestDatabase.current.session()
      try LogWriter.append(3, types: ["SignedIn", "Poison", "SignedIn"], session)
      try await loop.until { try state(of: "counted").stop?.position == Position(2) }
      let since = try state(of: "counted").stop?.time
      // The service starts again without anything mended: it stays as it was.
      try TestDatabase.current.terminate(Runner.applicationName)
      try await loop.until { reports.termsBegun == 2 }
      try LogWriter.append(1, session)
      try await loop.until { try state(of: "recorded").lag == 0 }
      #expect(try state(of: "counted").stop?.time == since)
      // As the mended code of a new release would see it.
      try session.script("update events set type = 'SignedIn' where type = 'Poison'")
      try TestDatabase.current.terminate(Runner.applicationName)
      try await loop.until { try state(of: "counted").lag == 0 }
      #expect(try state(of: "counted").stop == nil)
      #expect(try RecordingTables.countedIsLog(to: 4))
      #expect(reports.stopped.count == 1)
    }
  }

  @Test func `stops at a hole in the log, after what comes before it`() async throws {
    try LogWriter.append(10, TestDatabase.current.session())
    try TestDatabase.current.session().script("delete from events where position = 7")
    try await withRunner { loop, _ in
      for name in ["recorded", "counted"] {
        try await loop.until { try state(of: name).stop != nil }
        #expect(try state(of: name).position == Position(6))
        #expect(
          try state(of: name).stop?.reason == "the log has a hole: no event at position 7"
        )
      }
    }
  }

  @Test func `waits for a lock without holding up the others`() async throws {
    var pace = RunnerPace()
    pace.lockTimeout = .milliseconds(20)
    try await withRunner(pace: pace) { loop, reports in
      let session = try TestDatabase.current.session()
      let blocker = try TestDatabase.current.session()
      try blocker.script("begin")
      try blocker.script("lock table recorded in access exclusive mode")
      try LogWriter.append(5, session)
      try await loop.until { try state(of: "counted").lag == 0 }
      try await loop.until { reports.complaints.contains { $0.hasPrefix("SQLSTATE 55P03") } }
      try LogWriter.append(5, session)
      try await loop.until { try state(of: "counted").position == Position(10) }
      try blocker.script("commit")
      try await loop.until { try state(of: "recorded").lag == 0 }
      #expect(try RecordingTables.recordedIsLog(to: 10))
      #expect(reports.stopped.isEmpty)
    }
  }

  @Test func `says that a rebuild is due where revisions differ, and goes on`() async throws {
    try await withRunner { loop, _ in
      let session = try TestDatabase.current.session()
      try session.script("update projections set revision = 9 where name = 'counted'")
      try LogWriter.append(2, session)
      try await loop.until { try state(of: "counted").lag == 0 }
      #expect(try state(of: "counted").condition == .rebuildDue)
      #expect(try state(of: "recorded").condition == .running)
    }
  }
}

@Suite("Several runners", .database)
struct RunnerLeaseTests {
  @Test func `take turns: another goes on when one gives up, or falls silent`() async throws {
    let target = try TestDatabase.current.target
    try await withRunner { loop, first in
      try await loop.until { first.termsBegun == 1 }
      var pace = RunnerPace()
      pace.heartbeat = .milliseconds(20)
      let second = Reports()
      let runner = try Runner(
        target: target,
        keyring: TestKeys.lenient,
        projections: [Recorded.self],
        pace: pace,
        report: second.add
      )
      defer {
        runner.stop()
        runner.join()
      }
      let session = try TestDatabase.current.session()
      try LogWriter.append(2, session)
      try await loop.until { try state(of: "recorded").lag == 0 }
      #expect(second.termsBegun == 0)
      // The first one renews no more, as far as the database can tell.
      try session.script(
        "update projection_runner set holder = gen_random_uuid(), held_until = '-infinity'"
      )
      try await loop.until { second.termsBegun == 1 }
    }
  }

  @Test func `one that stops gives its lease up at once`() async throws {
    try RecordingTables.create()
    let runner = try Runner(
      target: TestDatabase.current.target,
      keyring: TestKeys.lenient,
      projections: [Recorded.self],
      report: { _ in }
    )
    let session = try TestDatabase.current.session()
    try await withLoop { loop in
      let session = try TestDatabase.current.session()
      try await loop.until {
        try session.query("select 1 from projection_runner where holder is not null").count == 1
      }
    }
    runner.stop()
    runner.join()
    let rows = try session.query(
      "select 1 from projection_runner where holder is null and held_until < now()"
    )
    #expect(rows.count == 1)
  }
}
