import EmbeddedPostgres
import Settings

/// The database that the settings name: a server elsewhere, or the embedded one, which is joined
/// or started, and stopped by whoever leaves it last.
final class Database: Sendable {
  /// What libpq connects to.
  let target: String
  /// The share in the embedded server, where it is that one.
  let lease: Lease?

  init(_ settings: Settings) throws {
    if let url = settings.databaseURL {
      target = url
      lease = nil
    } else {
      let lease = try EmbeddedPostgres.join(dataDirectory: settings.dataDirectory)
      target = lease.databaseURL
      self.lease = lease
    }
  }

  /// Lets go of the embedded server.
  func close() throws {
    try lease?.release()
  }

  /// Runs `body` with the database, and lets go of it afterwards.
  static func with<Result>(
    _ settings: Settings,
    _ body: (Database) throws -> Result
  ) throws -> Result {
    let database = try Database(settings)
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
