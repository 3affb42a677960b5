import Clocks
import EventLoop
import Glibc
import Postgres
import TestSupport
import Testing

@Suite("A blocking connection with patience", .emptyDatabase)
struct PatienceTests {
  private static func session(_ patience: Duration = .seconds(20)) throws -> BlockingConnection {
    try BlockingConnection(
      target: TestDatabase.current.target,
      applicationName: "patient",
      patience: patience
    )
  }

  @Test func `works as one without`() throws {
    let session = try Self.session()
    try session.script("create table things (n integer); insert into things values (1)")
    let failure = #expect(throws: BlockingConnection.Failure.self) {
      try session.script("insert into things values (2); insert into nowhere values (3)")
    }
    #expect(failure?.sqlState == "42P01")
    #expect(failure?.isConnectionLost == false)
    var lines: [[UInt8]] = (2...2000).map { Array("\($0)\n".utf8) }
    try session.copyIn("copy things from stdin") { lines.popLast() }
    let rows = try session.query("select n from things order by n")
    #expect((0..<rows.count).map { rows.integer($0, 0, as: Int32.self) } == Array(1...2000))
    // More than a socket takes at once, both ways.
    var parameters = Parameters()
    parameters.add([UInt8](repeating: 7, count: 20_000_000))
    #expect(try session.query("select $1::bytea", parameters).bytes(0, 0).count == 20_000_000)
  }

  @Test func `finds the connection lost when an answer takes too long`() throws {
    let session = try Self.session(.milliseconds(50))
    #expect(throws: BlockingConnection.Failure.self) {
      try session.transaction { try session.query("select pg_sleep(600)") }
    }
    let failure = #expect(throws: BlockingConnection.Failure.self) { try session.query("select 1") }
    #expect(failure?.isConnectionLost == true)
    try TestDatabase.current.terminate("patient")
  }

  @Test func `may be less patient with one statement`() throws {
    let session = try Self.session()
    let failure = #expect(throws: BlockingConnection.Failure.self) {
      try session.query("select pg_sleep(600)", patience: .milliseconds(50))
    }
    #expect(failure?.isConnectionLost == true)
    try TestDatabase.current.terminate("patient")
  }

  @Test func `finds the connection lost when its backend is gone`() throws {
    let session = try Self.session()
    #expect(try TestDatabase.current.terminate("patient") == 1)
    let failure = #expect(throws: BlockingConnection.Failure.self) { try session.query("select 1") }
    #expect(failure?.isConnectionLost == true)
    #expect(throws: BlockingConnection.Failure.self) {
      try session.waitForNotification(atMost: .seconds(20))
    }
  }

  @Test func `waits for a notification, and no longer than it is told`() throws {
    let session = try Self.session()
    try session.script("listen things")
    #expect(try session.waitForNotification(atMost: .milliseconds(20)) == false)
    let other = try TestDatabase.current.session()
    try other.script("notify things; notify others")
    #expect(try session.waitForNotification(atMost: .seconds(20)))
    #expect(try session.waitForNotification(atMost: .zero) == false)
    // One that came with the answer to a statement is not missed.
    try other.script("notify things")
    try session.script("select 1")
    #expect(try session.waitForNotification(atMost: .seconds(20)))
  }

  @Test func `stops waiting when its owner wakes it`() throws {
    let session = try Self.session()
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    #expect(write(ends[1], "!", 1) == 1)
    #expect(try session.waitForNotification(atMost: .seconds(600), wake: ends[0]) == false)
  }
}
