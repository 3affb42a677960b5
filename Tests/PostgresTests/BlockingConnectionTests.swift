import Postgres
import TestSupport
import Testing

@Suite("A blocking connection", .emptyDatabase)
struct BlockingConnectionTests {
  private struct Stop: Error {}

  private func count(_ session: borrowing BlockingConnection) throws -> Int64 {
    try session.query("select count(*) from things").integer(0, 0)
  }

  @Test func `runs a script as one transaction`() throws {
    let session = try TestDatabase.current.session()
    try session.script("create table things (n integer); insert into things values (1)")
    #expect(throws: BlockingConnection.Failure.self) {
      try session.script("insert into things values (2); insert into nowhere values (3)")
    }
    #expect(try count(session) == 1)
  }

  @Test func `commits a transaction that ends, and undoes one that throws`() throws {
    let session = try TestDatabase.current.session()
    try session.script("create table things (n integer)")
    let result = try session.transaction { () throws -> Int in
      try session.script("insert into things values (1)")
      return 7
    }
    #expect(result == 7)
    #expect(throws: Stop.self) {
      try session.transaction { () throws -> Void in
        try session.script("insert into things values (2)")
        throw Stop()
      }
    }
    #expect(try count(session) == 1)
  }

  @Test func `copies in what it is given, piece by piece`() throws {
    let session = try TestDatabase.current.session()
    try session.script("create table things (n integer, t text)")
    var pieces = ["1\ta\n2\t", "b\n", "", "3\t\\N\n"]
    try session.copyIn("copy things from stdin") {
      pieces.isEmpty ? nil : Array(pieces.removeFirst().utf8)
    }
    let rows = try session.query("select t from things order by n")
    #expect((0..<rows.count).map { rows.string($0, 0) } == ["a", "b", nil])
  }

  @Test func `copies nothing where the source throws or a line is wrong`() throws {
    let session = try TestDatabase.current.session()
    try session.script("create table things (n integer)")
    #expect(throws: Stop.self) {
      var isFirst = true
      try session.copyIn("copy things from stdin") {
        guard isFirst else { throw Stop() }
        isFirst = false
        return Array("1\n".utf8)
      }
    }
    #expect(try count(session) == 0)
    let failure = #expect(throws: BlockingConnection.Failure.self) {
      var lines = ["1\n", "two\n"]
      try session.copyIn("copy things from stdin") {
        lines.isEmpty ? nil : Array(lines.removeFirst().utf8)
      }
    }
    #expect(failure?.sqlState == "22P02")
    #expect(try count(session) == 0)
  }

  @Test func `says what went wrong in one line, with the SQLSTATE`() throws {
    let session = try TestDatabase.current.session()
    let failure = #expect(throws: BlockingConnection.Failure.self) {
      try session.query("select *\nfrom nowhere")
    }
    #expect(failure?.sqlState == "42P01")
    #expect(failure?.message.contains("relation \"nowhere\" does not exist") == true)
    #expect(failure?.description.contains { $0.isNewline } == false)
  }

  @Test func `says in one line why it can't connect`() {
    let failure = #expect(throws: BlockingConnection.Failure.self) {
      _ = try BlockingConnection(
        target: "postgresql://nobody@/none?host=%2Fproc%2Fnowhere",
        applicationName: "test"
      )
    }
    #expect(failure?.sqlState == nil)
    #expect(failure?.message.contains("/proc/nowhere") == true)
    #expect(failure?.message.contains { $0.isNewline } == false)
  }

  @Test func `runs its set-up first, and knows its backend`() throws {
    let database = try TestDatabase.current
    let session = try BlockingConnection(
      target: database.target,
      applicationName: "set up",
      setup: ["set work_mem = '3MB'"]
    )
    let rows = try session.query(
      "select current_setting('work_mem'), pg_backend_pid(), current_setting('application_name')"
    )
    #expect(rows.string(0, 0) == "3MB")
    #expect(rows.integer(0, 1) == session.announcedBackend)
    #expect(rows.string(0, 2) == "set up")
  }

  @Test func `fails every call once its backend is gone`() throws {
    let database = try TestDatabase.current
    let session = try BlockingConnection(target: database.target, applicationName: "doomed")
    #expect(try database.terminate("doomed") == 1)
    for _ in 0..<2 {
      #expect(throws: BlockingConnection.Failure.self) { try session.query("select 1") }
    }
  }
}
