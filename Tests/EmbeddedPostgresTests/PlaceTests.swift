import EmbeddedPostgres
import Foundation
import Testing

extension EmbeddedPostgresTests {
  /// Where the data directory lies, and whose it is.
  @Suite("A data directory")
  struct PlaceTests {}
}

extension EmbeddedPostgresTests.PlaceTests {
  @Test(.enabled(if: isRoot))
  func `may lie where the server's user cannot go`() throws {
    let scratch = try Scratch(under: "/root", data: "private/.jejak", mode: 0o700)
    let lease = try scratch.join()
    let server = try #require(scratch.serverProcess)
    #expect(try output("/usr/bin/stat", ["-c", "%U", "/proc/\(server)"]) != "root")
    #expect(try psql(lease.databaseURL, "SELECT count(*) > 0 FROM pg_class") == "t")
    kill(server, SIGKILL)
    try lease.ensureRunning()
    #expect(try psql(lease.databaseURL, "SELECT 1") == "1")
    try lease.release()
    #expect(scratch.serverProcess == nil)
  }

  @Test func `may have a path longer than a socket's`() throws {
    let scratch = try Scratch(data: String(repeating: "long-name/", count: 15) + "x")
    let lease = try scratch.join()
    let other = try Holder(scratch.data)
    #expect(other.firstLine() == lease.databaseURL)
    #expect(lease.databaseURL.contains("%2Ftmp%2Fjejak-"))
    #expect(try psql(lease.databaseURL, "SELECT 1") == "1")
    other.finish()
    let socket = lease.databaseURL.replacing("%2F", with: "/").split(separator: "host=").last
    try lease.release()
    #expect(!FileManager.default.fileExists(atPath: String(socket ?? "")))
  }

  @Test func `may have a name with spaces and signs`() throws {
    let scratch = try Scratch(data: "my data's & 100%?")
    let lease = try scratch.join()
    #expect(try psql(lease.databaseURL, "SELECT 1") == "1")
    try lease.release()
  }

  @Test(.enabled(if: isRoot))
  func `of an ordinary user serves that user, and root after it`() throws {
    let scratch = try Scratch(mode: 0o777)
    let binary = scratch.root + "/LeaseHolder"
    try FileManager.default.copyItem(atPath: Holder.binary, toPath: binary)
    let holder = try Holder(scratch.data, user: "nobody", binary: binary)
    let url = holder.firstLine()
    #expect(url.hasPrefix("postgresql://"))
    let server = try #require(scratch.serverProcess)
    #expect(try output("/usr/bin/stat", ["-c", "%U", "/proc/\(server)"]) == "nobody")
    holder.finish()
    #expect(scratch.serverProcess == nil)

    let lease = try scratch.join()
    let again = try Holder(scratch.data, user: "nobody", binary: binary)
    #expect(again.firstLine() == url)
    try lease.release()
    again.finish()
    #expect(scratch.serverProcess == nil)
  }

  @Test func `that cannot be made is named in the error`() {
    let error = #expect(throws: EmbeddedPostgresError.self) {
      try EmbeddedPostgres.join(dataDirectory: "/proc/nowhere/data")
    }
    #expect(error?.description.hasPrefix("cannot use /proc/nowhere: ") == true)
  }

  @Test func `is private`() throws {
    let scratch = try Scratch()
    let lease = try scratch.join()
    for path in ["", "/socket", "/pgdata"] {
      let mode = try output("/usr/bin/stat", ["-c", "%a", scratch.data + path])
      #expect(mode == "700", "\(path)")
    }
    try lease.release()
  }
}
