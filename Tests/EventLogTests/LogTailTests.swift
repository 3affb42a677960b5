import EventLog
import EventLoop
import Postgres
import Synchronization
import TestSupport
import Testing

/// Counts the calls that wake.
private final class Bell: Sendable {
  private let count = Atomic(0)

  var rings: Int { count.load(ordering: .acquiring) }

  func ring() { count.add(1, ordering: .acquiringAndReleasing) }
}

@Suite("The tail of a log", .database)
struct LogTailTests {
  /// Runs `body` with an open tail, on the loop of `withLane`.
  private func withTail(
    _ body: @escaping @Sendable (EventLoop, AppendLane, LogTail) async throws -> Void
  ) async throws {
    let target = try TestDatabase.current.target
    try await withLane { loop, lane, _ in
      let configuration = Connection.Configuration(
        target: target,
        applicationName: "jejak tail",
        setup: [],
        statements: []
      )
      let tail = LogTail(loop: loop, configuration: configuration) { _ in }
      tail.open()
      try await body(loop, lane, tail)
      tail.close()
    }
  }

  @Test func `wakes who waits for more, once, and nobody else`() async throws {
    try await withTail { loop, lane, tail in
      let (bell, patient, gone) = (Bell(), Bell(), Bell())
      _ = tail.whenPast(.start) { bell.ring() }
      _ = tail.whenPast(Position(1)) { patient.ring() }
      tail.cancel(tail.whenPast(.start) { gone.ring() })
      _ = await outcomes([try TestUser.new("a@example.com").event], loop, lane)
      try await loop.until { bell.rings == 1 }
      #expect(tail.head == Position(1))
      #expect(patient.rings == 0)
      _ = await outcomes([try TestUser.new("b@example.com").event], loop, lane)
      try await loop.until { patient.rings == 1 }
      #expect(bell.rings == 1)
      #expect(gone.rings == 0)
    }
  }

  @Test func `knows at once what it knows already`() async throws {
    try await withTail { loop, lane, tail in
      let bell = Bell()
      _ = await outcomes([try TestUser.new().event], loop, lane)
      _ = tail.whenPast(.start) { bell.ring() }
      try await loop.until { bell.rings == 1 }
      _ = tail.whenPast(.start) { bell.ring() }
      #expect(bell.rings == 2)
    }
  }

  @Test func `goes on when its connections are lost`() async throws {
    let database = try TestDatabase.current
    try await withTail { loop, lane, tail in
      for number in 0..<3 as Range<Int64> {
        let bell = Bell()
        _ = tail.whenPast(Position(number)) { bell.ring() }
        try database.terminate("jejak tail")
        try database.terminate("jejak tail listener")
        _ = await outcomes([try TestUser.new("user\(number)@example.com").event], loop, lane)
        try await loop.until { bell.rings == 1 }
      }
    }
  }

  @Test func `needs nobody to say that there is more`() async throws {
    // An append that says nothing.
    try TestDatabase.current.session().script(
      """
      do $$ begin
        execute replace(
          pg_get_functiondef('append_events'::regproc), 'perform pg_notify', 'perform concat');
      end $$;
      """
    )
    try await withTail { loop, lane, tail in
      let bell = Bell()
      _ = tail.whenPast(.start) { bell.ring() }
      _ = await outcomes([try TestUser.new().event], loop, lane)
      try await loop.until { bell.rings == 1 }
    }
  }

  @Test func `takes what is said on the channel for a reason to look, and no more`() async throws {
    let database = try TestDatabase.current
    try await withTail { loop, lane, tail in
      let (bell, patient) = (Bell(), Bell())
      _ = tail.whenPast(.start) { bell.ring() }
      _ = tail.whenPast(Position(1)) { patient.ring() }
      let session = try database.session()
      for payload in ["9223372036854775807", "-1", "none", ""] {
        try session.script(
          "do $$ begin perform pg_notify('jejak ' || current_schema(), '\(payload)'); end $$"
        )
      }
      // What is said comes in the order of the commits.
      _ = await outcomes([try TestUser.new().event], loop, lane)
      try await loop.until { bell.rings == 1 }
      #expect(tail.head == Position(1))
      #expect(patient.rings == 0)
    }
  }

  @Test func `follows a log that was put back`() async throws {
    let database = try TestDatabase.current
    try await withTail { loop, lane, tail in
      let bell = Bell()
      _ = tail.whenPast(Position(1)) { bell.ring() }
      for name in ["a", "b"] {
        _ = await outcomes([try TestUser.new("\(name)@example.com").event], loop, lane)
      }
      try await loop.until { bell.rings == 1 }
      try database.superuserSession().script(
        """
        set session_replication_role = replica;
        delete from events where position = 2;
        """
      )
      _ = tail.whenPast(Position(2)) {}
      try await loop.until { tail.head == Position(1) }
    }
  }
}
