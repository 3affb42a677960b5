import Foundation
import Logging
import Network
import Testing

@testable import Settings

@Suite("The settings")
struct SettingsTests {
  private func read(
    _ arguments: [String] = [],
    environment: [String: String] = [:],
    file: String? = nil
  ) throws -> Settings {
    let syntax = CommandSyntax(usage: "jejak serve", summary: "", options: Settings.allOptions)
    var arguments = arguments
    let path = FileManager.default.temporaryDirectory.path + "/jejak-\(UUID().uuidString).conf"
    defer { try? FileManager.default.removeItem(atPath: path) }
    if let file {
      try file.write(toFile: path, atomically: false, encoding: .utf8)
      arguments += ["--config", path]
    }
    do {
      return try Settings(syntax.parse(arguments)) { environment[$0] }
    } catch {
      throw UsageError(error.description.replacing(path, with: "FILE"))
    }
  }

  @Test func `have defaults`() throws {
    #expect(try read() == Settings())
    #expect(try read().listen.description == "127.0.0.1:8080")
  }

  @Test func `come from flags, then the environment, then the file`() throws {
    let file = "# ours\n\nJEJAK_LOOPS = 1\nJEJAK_LOG=text\n  JEJAK_DATA_DIR=/srv/a=b c \n"
    let settings = try read(
      ["--loops", "3"],
      environment: ["JEJAK_LOOPS": "2", "JEJAK_LOG": "json"],
      file: file
    )
    #expect(settings.loops == 3)
    #expect(settings.logFormat == .json)
    #expect(settings.dataDirectory == "/srv/a=b c")
    #expect(try read(environment: ["JEJAK_LOOPS": ""], file: file).loops == 1)
  }

  @Test func `have types`() throws {
    let settings = try read([
      "--listen", "[::1]:0", "--database-url", "postgresql://a,b/jejak", "--session-idle", "12h",
      "--session-max=90d", "--trusted-proxies", "10.0.0.0/8, fd00::/8", "--log-level", "debug",
      "--shutdown-grace", "500ms", "--no-migrate", "--password-min-length", "8",
      "--profile-schema", "schema.json",
    ])
    #expect(settings.listen.description == "[::1]:0")
    #expect(settings.databaseURL == "postgresql://a,b/jejak")
    #expect(settings.sessionIdle == .seconds(43_200))
    #expect(settings.sessionMax == .seconds(90 * 86_400))
    #expect(settings.trustedProxies.contains(address: "fd00::1"))
    #expect(settings.logLevel == .debug)
    #expect(settings.shutdownGrace == .milliseconds(500))
    #expect(!settings.migrate)
    #expect(settings.passwordMinimumLength == 8)
    #expect(settings.profileSchema == "schema.json")
  }

  @Test(arguments: [
    (
      ["--listen", "8080"],
      "--listen: expected an address and a port, such as 127.0.0.1:8080 or [::1]:8080, "
        + "not '8080'"
    ),
    (
      ["--password-min-length", "7"],
      "--password-min-length: expected a number from 8 to 64, not '7'"
    ),
    (["--loops", "0"], "--loops: expected a number from 1 to 256, not '0'"),
    (["--database-url", "secret"], "--database-url: expected a libpq URI, postgresql://…"),
    (
      ["--session-idle", "30"],
      "--session-idle: expected a time with its unit, such as 45s, 15m, 12h or 30d, not '30'"
    ),
    (["--log", "xml"], "--log: expected json or text, not 'xml'"),
    (
      ["--session-max", "1d"],
      "JEJAK_SESSION_IDLE (--session-idle) is longer than JEJAK_SESSION_MAX"
    ),
    (["--config", "/nowhere"], "cannot read /nowhere: No such file or directory"),
  ])
  func `that are wrong are named in one line`(_ arguments: [String], _ expected: String) {
    #expect(throws: UsageError(expected)) { try read(arguments) }
  }

  @Test(arguments: [
    ("JEJAK_LOPS=1", "FILE:1: unknown setting JEJAK_LOPS"),
    ("#\nJEJAK_LOOPS", "FILE:2: expected KEY=value"),
    ("JEJAK_LOOPS=1\r\nJEJAK_LOOPS=2", "FILE:2: JEJAK_LOOPS is set twice"),
    ("\nJEJAK_LOOPS=x", "FILE:2: JEJAK_LOOPS: expected a number from 1 to 256, not 'x'"),
  ])
  func `of a file are named with their line`(_ file: String, _ expected: String) {
    #expect(throws: UsageError(expected)) { try read(file: file) }
  }

  @Test func `of the environment are named by their variable`() {
    #expect(throws: UsageError("JEJAK_MIGRATE: expected on or off, not 'maybe'")) {
      try read(environment: ["JEJAK_MIGRATE": "maybe"])
    }
  }

  @Test func `are all in the help, with their defaults`() {
    let help = CommandSyntax(
      usage: "jejak serve [OPTION]…",
      summary: "Runs the service.",
      options: Settings.allOptions
    ).help
    for setting in Setting.table {
      #expect(help.contains("  --\(setting.option.name)"))
      #expect(help.contains("[\(setting.variable)"))
    }
    #expect(help.contains("[JEJAK_SESSION_IDLE, default 30d]"))
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 })
    #expect(Settings.databaseOptions.contains { $0.name == "data-dir" })
    #expect(!Settings.databaseOptions.contains { $0.name == "listen" })
  }
}
