import EmbeddedPostgres
import EventLog
import Foundation
import Migrations
import Postgres
import Synchronization

/// The private PostgreSQL server of this process, started when the first test needs it and
/// stopped when the process ends.
final class TestServer: Sendable {
  /// The server, or why there is none.
  static let shared = Result { try TestServer() }

  /// A migrated database, to copy.
  static let template = "template_migrated"

  private let directory: String
  private let lease: Lease

  private init() throws {
    directory = FileManager.default.temporaryDirectory.path + "/jejak-tests-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: directory,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o755]
    )
    lease = try EmbeddedPostgres.join(dataDirectory: directory + "/data")
    let session = try session(inDatabase: "postgres")
    // Nothing here outlives the process, so nothing is forced to disk.
    try session.script("alter system set fsync = off")
    try session.script("select pg_reload_conf()")
    try session.script("create database \(Self.template) owner jejak")
    try Migrator(target: target(ofDatabase: Self.template)).migrate()
    let owner = try BlockingConnection(
      target: target(ofDatabase: Self.template),
      applicationName: "jejak tests"
    )
    try SealingRecord.begin(TestKeys.inUse, owner)
    atexit {
      try? TestServer.shared.get().stop()
    }
  }

  private func stop() throws {
    try lease.release()
    try FileManager.default.removeItem(atPath: directory)
  }

  /// What libpq connects to as the database's owner.
  func target(ofDatabase name: String) -> String {
    lease.databaseURL.replacing("@/jejak?", with: "@/\(name)?")
  }

  /// A session of the superuser.
  func session(inDatabase name: String) throws -> BlockingConnection {
    try BlockingConnection(
      target: target(ofDatabase: name).replacing("://jejak@", with: "://postgres@"),
      applicationName: "jejak tests"
    )
  }
}
