import EventLoop
import Postgres
import Synchronization
import TestSupport
import Testing

/// The statements that the tests of a connection use.
enum Statements {
  static let echo = Statement("echo", "select $1::bigint")
  static let divide = Statement("divide", "select 1 / $1::bigint")
  static let add = Statement("add", "insert into things values ($1::bigint)")
  static let count = Statement("count", "select count(*) from things")
  static let wait = Statement("wait", "select pg_sleep($1::bigint)")
  static let setting = Statement("setting", "select current_setting('work_mem')")
  static let all = [echo, divide, add, count, wait, setting]

  static func bind(_ number: Int64) -> Parameters {
    var parameters = Parameters()
    parameters.add(number)
    return parameters
  }
}

/// What a connection reported, in order.
final class Reports: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Runs `body` with a connection to the test's database, on a loop of its own.
func withConnection<Value: Sendable>(
  configure: @escaping @Sendable (inout Connection.Configuration) -> Void = { _ in },
  reports: Reports = Reports(),
  isReady: Bool = true,
  _ body: @escaping @Sendable (EventLoop, Connection) async throws -> Value
) async throws -> Value {
  let database = try TestDatabase.current
  try database.session().script("create table if not exists things (n bigint primary key)")
  return try await withLoop { loop in
    var configuration = Connection.Configuration(
      target: database.target,
      applicationName: "connection under test",
      setup: ["set work_mem = '3MB'"],
      statements: Statements.all
    )
    configure(&configuration)
    let connection = Connection(loop: loop, configuration: configuration) { reports.add($0) }
    connection.open()
    if isReady { try await loop.until { connection.isReady } }
    let result: Result<Value, any Error>
    do { result = .success(try await body(loop, connection)) } catch { result = .failure(error) }
    connection.close()
    return try result.get()
  }
}

extension Connection {
  /// What becomes of `steps`, as soon as it is known.
  func outcome(_ steps: [(Statement, Parameters)]) async -> Outcome {
    await withCheckedContinuation { continuation in
      send(steps) { continuation.resume(returning: $0) }
    }
  }
}

@Suite("A connection", .emptyDatabase)
struct ConnectionTests {
  @Test func `answers many exchanges in the order of their sending`() async throws {
    let order = try await withConnection { loop, connection in
      let seen = LoopBound<[Int64]>([], on: loop)
      for number in 0..<1_000 as Range<Int64> {
        connection.send([(Statements.echo, Statements.bind(number))]) { outcome in
          if case .success(let rows) = outcome { seen.value.append(rows[0].integer(0, 0)) }
        }
      }
      #expect(connection.pending == 1_000)
      try await loop.until { connection.pending == 0 }
      return seen.value
    }
    #expect(order == Array(0..<1_000))
  }

  @Test func `is set up before its first exchange`() async throws {
    let text = try await withConnection { _, connection in
      try await connection.run(Statements.setting, Parameters()).string(0, 0)
    }
    #expect(text == "3MB")
  }

  @Test func `keeps an exchange that fails from its neighbours`() async throws {
    let outcomes = try await withConnection { loop, connection in
      let seen = LoopBound<[String]>([], on: loop)
      for number in [1, 0, 1, 0, 0, 1] as [Int64] {
        connection.send([(Statements.divide, Statements.bind(number))]) { outcome in
          switch outcome {
          case .success(let rows): seen.value.append("\(rows[0].integer(0, 0, as: Int64.self))")
          case .failure(.refused(let refusal)): seen.value.append(refusal.sqlState)
          case .failure(let error): seen.value.append("\(error)")
          }
        }
      }
      try await loop.until { connection.pending == 0 }
      return seen.value
    }
    #expect(outcomes == ["1", "22012", "1", "22012", "22012", "1"])
  }

  @Test func `runs several steps as one transaction, or none of them`() async throws {
    let (rows, count) = try await withConnection { _, connection in
      let rows = try await connection.transaction([
        (Statements.add, Statements.bind(1)), (Statements.add, Statements.bind(2)),
        (Statements.count, Parameters()),
      ])
      for failing in [Statements.bind(2), Statements.bind(1)] {
        let error = await #expect(throws: PostgresError.self) {
          try await connection.transaction([
            (Statements.add, Statements.bind(3)), (Statements.add, failing),
            (Statements.add, Statements.bind(4)),
          ])
        }
        guard case .refused(let refusal)? = error else { return (rows, -1 as Int64) }
        #expect(refusal.sqlState == "23505")
        #expect(refusal.constraint == "things_pkey")
        // The server's words would quote the key.
        #expect(refusal.message == nil)
      }
      return (rows, try await connection.run(Statements.count, Parameters()).integer(0, 0))
    }
    #expect(rows.count == 3)
    #expect(rows[0].affected == 1)
    #expect(rows[2].integer(0, 0) == Int64(2))
    #expect(count == 2)
  }

  @Test func `carries values larger than the socket takes at once`() async throws {
    let text = String(repeating: "x", count: 20_000_000)
    let length = try await withConnection { configuration in
      configuration.statements.append(Statement("length", "select length($1::text)"))
    } _: { _, connection in
      var parameters = Parameters()
      parameters.add(text)
      let rows = try await connection.run(Statement("length", ""), parameters)
      return rows.integer(0, 0, as: Int32.self)
    }
    #expect(length == 20_000_000)
  }

  @Test func `takes no more exchanges than its limit`() async throws {
    try await withConnection {
      $0.exchangeLimit = 2
    } _: { loop, connection in
      let outcomes = LoopBound<[Bool]>([], on: loop)
      for _ in 0..<3 {
        connection.send([(Statements.echo, Statements.bind(1))]) { outcome in
          if case .success = outcome { outcomes.value.append(true) }
          if case .failure(.unavailable) = outcome { outcomes.value.append(false) }
        }
      }
      try await loop.until { outcomes.value.count == 3 }
      // The refused one is told at once.
      #expect(outcomes.value == [false, true, true])
      _ = try await connection.run(Statements.echo, Statements.bind(1))
    }
  }

  @Test func `refuses a statement it wasn't given, and goes on`() async throws {
    try await withConnection { _, connection in
      await #expect(throws: PostgresError.self) {
        try await connection.run(Statement("unknown", "select 1"), Parameters())
      }
      _ = try await connection.run(Statements.echo, Statements.bind(1))
    }
  }
}
