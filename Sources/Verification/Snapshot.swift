import Postgres

/// What the log and all that stands beside it were at one moment, for any number of connections.
struct Snapshot: Sendable {
  private let target: String
  private let name: String
  /// The last position.
  let head: Int64
  /// How many events there are, which is the same unless somebody has moved or removed some.
  let length: Int64

  private static let begin = "begin isolation level repeatable read read only"
  private static let setup = [
    "set statement_timeout = 0", "set lock_timeout = 0",
    "set idle_in_transaction_session_timeout = 0", "set jit = off",
    // For the events of a range, which are sorted by their users.
    "set work_mem = '64MB'",
  ]

  /// Runs `body` with a snapshot of this moment, on a connection that has it too.
  static func take<Result>(
    of target: String,
    _ body: (Snapshot, borrowing BlockingConnection) throws -> Result
  ) throws -> Result {
    let connection = try connect(target)
    return try connection.transaction(begin) {
      let rows = try connection.query(
        """
        select pg_export_snapshot(), coalesce(max(position), 0), count(*) from events
        """
      )
      let snapshot = Snapshot(
        target: target,
        name: rows.string(0, 0) ?? "",
        head: rows.integer(0, 1),
        length: rows.integer(0, 2)
      )
      return try body(snapshot, connection)
    }
  }

  /// A connection in a transaction that sees the same.
  func open() throws -> BlockingConnection {
    let connection = try Self.connect(target)
    try connection.script(Self.begin)
    try connection.script("set transaction snapshot '\(name)'")
    return connection
  }

  private static func connect(_ target: String) throws -> BlockingConnection {
    try BlockingConnection(target: target, applicationName: "jejak verify", setup: setup)
  }
}
