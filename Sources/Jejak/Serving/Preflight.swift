import Keys
import Migrations
import Postgres

/// What must hold of a database before it is served from.
enum Preflight {
  /// The database can't be reached: try again.
  struct Unreachable: Error, CustomStringConvertible {
    let reason: String
    var description: String { reason }
  }

  /// Releases of PostgreSQL from this one on are supported.
  static let oldestServer = 150_000

  /// Checks the database, and migrates it if so told; returns what was applied.
  ///
  /// `connections` is how many the service is going to open.
  static func run(_ target: String, migrate: Bool, connections: Int) throws -> [String] {
    try reaching {
      try check(target, connections: connections)
      let migrator = try Migrator(target: target)
      let pending = try migrator.pending()
      guard !pending.isEmpty else { return [] }
      guard migrate else {
        throw CommandError("\(pending.count) migrations are pending; run jejak migrate")
      }
      return try migrator.migrate()
    }
  }

  /// Runs `body`; a connection that can't be had or is lost becomes `Unreachable`.
  static func reaching<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let failure as BlockingConnection.Failure where failure.isConnectionLost {
      throw Unreachable(reason: failure.message)
    }
  }

  /// Whether a log has to be sealed, which `migrate` allows.
  static func hasPlainPayloads(_ database: Database, migrate: Bool) throws -> Bool {
    guard try reaching({ try database.hasPlainPayloads() }) else { return false }
    guard migrate else {
      throw CommandError("the log was begun before payloads were sealed; run jejak migrate")
    }
    return true
  }

  /// Opens the keyring of a database that has the right schema; `made` is told of a key file that was
  /// made for it.
  static func open(
    _ keyring: Keyring,
    of database: Database,
    made: (String) -> Void
  ) throws {
    try reaching { try database.open(keyring, made: made) }
  }

  /// Throws where the database can't be served from, or `connections` are more than it allows.
  static func check(_ target: String, connections: Int = 1) throws {
    let connection = try BlockingConnection(target: target, applicationName: "jejak")
    let facts = try connection.query(
      """
      select pg_backend_pid(), current_setting('server_version_num')::integer,
             current_setting('server_encoding'), pg_is_in_recovery(),
             current_setting('max_connections')::integer
               - current_setting('superuser_reserved_connections')::integer
      """
    )
    // A pooler tells a process id of its own making, and hands each transaction to another
    // backend, where no statement is prepared.
    guard facts.integer(0, 0) == connection.announcedBackend else {
      throw CommandError(
        """
        a connection pooler such as PgBouncer stands before PostgreSQL; connect directly: \
        jejak shares its few connections among all requests by itself, and needs prepared \
        statements and pipelines
        """
      )
    }
    guard facts.integer(0, 1, as: Int32.self) >= oldestServer else {
      throw CommandError("PostgreSQL 15 or later is needed")
    }
    guard facts.string(0, 2) == "UTF8" else {
      throw CommandError("the database's encoding is \(facts.string(0, 2) ?? "?"), not UTF8")
    }
    let allowed: Int32 = facts.integer(0, 4)
    guard connections < allowed else {
      throw CommandError(
        "\(connections) connections are needed, and the server allows \(allowed); set JEJAK_LOOPS"
      )
    }
    guard !facts.bool(0, 3) else {
      throw Unreachable(reason: "the server is a standby, which takes no writes")
    }
  }
}
