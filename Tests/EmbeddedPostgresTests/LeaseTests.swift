import EmbeddedPostgres
import Foundation
import Testing

/// One test at a time: each starts a server, and the machine may have two cores.
@Suite("EmbeddedPostgres", .serialized)
struct EmbeddedPostgresTests {}

extension EmbeddedPostgresTests {
  @Suite("An embedded PostgreSQL")
  struct LeaseTests {}
}

extension EmbeddedPostgresTests.LeaseTests {
  @Test func `starts on demand and stops with its last user`() throws {
    let scratch = try Scratch()
    let first = try scratch.join()
    let second = try scratch.join()
    #expect(first.databaseURL == second.databaseURL)
    try first.release()
    #expect(try psql(second.databaseURL, "SELECT current_user") == "jejak")
    try second.release()
    try second.release()
    #expect(scratch.serverProcess == nil)
  }

  @Test func `keeps its data, as UTF-8 with checksums, out of the network's reach`() throws {
    let scratch = try Scratch()
    let first = try scratch.join()
    _ = try psql(first.databaseURL, "CREATE TABLE kept AS SELECT 1 AS x")
    try first.release()

    let lease = try scratch.join()
    #expect(try psql(lease.databaseURL, "SELECT x FROM kept") == "1")
    let wanted = [
      "listen_addresses": "", "data_checksums": "on", "fsync": "on", "server_encoding": "UTF8",
      "lc_collate": "C", "cluster_name": "jejak", "log_error_verbosity": "terse",
    ]
    for (name, value) in wanted {
      #expect(try psql(lease.databaseURL, "SHOW \(name)") == value, "\(name)")
    }
    #expect(try psql(lease.databaseURL, "SELECT upper('é')") == "É")
    let roles = "SELECT rolsuper, rolcreaterole FROM pg_roles WHERE rolname = 'jejak'"
    #expect(try psql(lease.databaseURL, roles) == "f|f")
    try lease.release()
  }

  @Test func `is shared by processes, and outlives one that is killed`() throws {
    let scratch = try Scratch()
    let killed = try Holder(scratch.data)
    let url = killed.firstLine()
    #expect(url.hasPrefix("postgresql://jejak@/jejak?host=%2F"))
    let server = try #require(scratch.serverProcess)
    killed.killHard()
    #expect(scratch.serverProcess == server)

    let heir = try scratch.join()
    let other = try Holder(scratch.data)
    #expect(other.firstLine() == url)
    try heir.release()
    #expect(try psql(url, "SELECT 1") == "1")
    other.finish()
    #expect(scratch.serverProcess == nil)
  }

  @Test func `runs again after its server was killed`() throws {
    let scratch = try Scratch()
    let lease = try scratch.join()
    _ = try psql(lease.databaseURL, "CREATE TABLE kept AS SELECT 1 AS x")
    let server = try #require(scratch.serverProcess)
    kill(server, SIGKILL)
    try lease.ensureRunning()
    #expect(scratch.serverProcess != server)
    #expect(try psql(lease.databaseURL, "SELECT x FROM kept") == "1")
    try lease.ensureRunning()
    try lease.release()
    #expect(scratch.serverProcess == nil)
  }

  @Test func `runs again while the killed server's parent has not noticed`() throws {
    let scratch = try Scratch()
    let parent = try Holder(scratch.data)
    let url = parent.firstLine()
    let server = try #require(scratch.serverProcess)
    kill(server, SIGKILL)
    let lease = try scratch.join()
    #expect(try psql(url, "SELECT 1") == "1")
    parent.finish()
    try lease.release()
    #expect(scratch.serverProcess == nil)
  }

  @Test func `says what PostgreSQL said when it does not start`() throws {
    let scratch = try Scratch()
    try scratch.join().release()
    let settings = scratch.data + "/pgdata/postgresql.auto.conf"
    try "port = 99999999\n".write(toFile: settings, atomically: false, encoding: .utf8)
    let error = #expect(throws: EmbeddedPostgresError.self) { try scratch.join() }
    #expect(error?.description.contains("FATAL:") == true)
  }

  @Test func `starts beside a pid file whose number is another process by now`() throws {
    let scratch = try Scratch()
    try scratch.join().release()
    let stale = "\(getpid())\n/proc/self/fd/3\n1\n5432\n/proc/self/fd/4\n\n1 1\nready   \n"
    try stale.write(
      toFile: scratch.data + "/pgdata/postmaster.pid",
      atomically: false,
      encoding: .utf8
    )
    let lease = try scratch.join()
    #expect(try psql(lease.databaseURL, "SELECT 1") == "1")
    try lease.release()
  }

  @Test func `starts once when many processes ask at the same moment`() throws {
    let scratch = try Scratch()
    let holders = try (0..<5).map { _ in try Holder(scratch.data) }
    let lines = Set(holders.map { $0.firstLine() })
    #expect(lines.count == 1)
    #expect(try psql(lines.first ?? "", "SELECT 1") == "1")
    for holder in holders { holder.finish() }
    #expect(scratch.serverProcess == nil)
  }

  @Test func `begins anew where its first start was cut off`() throws {
    let scratch = try Scratch()
    try FileManager.default.createDirectory(
      atPath: scratch.data + "/pgdata.new/base",
      withIntermediateDirectories: true
    )
    let lease = try scratch.join()
    #expect(try psql(lease.databaseURL, "SELECT 1") == "1")
    try lease.release()
  }
}
