import EmbeddedPostgres
import Migrations
import Settings

/// The database that the settings name: a server elsewhere, or the embedded one, which is joined
/// or started, and stopped by whoever leaves it last.
final class Database: Sendable {
  /// What libpq connects to, as the owner.
  let target: String
  /// What the service's own connections connect to.
  ///
  /// The embedded database lets them log in as a
  /// role that owns nothing; elsewhere they come as the owner and change to that role, which
  /// guards against mistakes, unless the settings name such a login.
  let serviceTarget: String
  /// The share in the embedded server, where it is that one.
  let lease: Lease?
  /// The settings that name it.
  let settings: Settings

  /// Opens the database; with `create` an embedded one is made where there is none.
  init(_ settings: Settings, create: Bool) throws {
    self.settings = settings
    if let url = settings.databaseURL {
      target = url
      serviceTarget = url
      lease = nil
    } else {
      guard create || EmbeddedPostgres.exists(in: settings.dataDirectory) else {
        throw CommandError(
          "there is no database in \(settings.dataDirectory); say where with --data-dir or "
            + "--database-url"
        )
      }
      let lease = try EmbeddedPostgres.join(dataDirectory: settings.dataDirectory)
      target = lease.databaseURL
      serviceTarget = lease.serviceURL
      self.lease = lease
    }
  }

  /// Lets go of the embedded server.
  func close() throws {
    try lease?.release()
  }

  /// Runs `body` with the database, which is there already and has this version's schema, and lets
  /// go of it afterwards.
  static func withReady<Result>(
    _ settings: Settings,
    _ body: (Database) throws -> Result
  ) throws -> Result {
    try with(settings, create: false) { database in
      let pending = try Migrator(target: database.target).pending()
      guard pending.isEmpty else {
        throw CommandError("\(pending.count) migrations are pending; run jejak migrate")
      }
      return try body(database)
    }
  }

  /// Runs `body` with the database, and lets go of it afterwards.
  static func with<Result>(
    _ settings: Settings,
    create: Bool,
    _ body: (Database) throws -> Result
  ) throws -> Result {
    let database = try Database(settings, create: create)
    do {
      let result = try body(database)
      try database.close()
      return result
    } catch {
      // The first error is the one to tell.
      _ = try? database.close()
      throw error
    }
  }
}
