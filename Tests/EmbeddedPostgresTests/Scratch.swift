import EmbeddedPostgres
import Foundation
import Testing

/// A directory of its own for one test, with the data directory somewhere under it.
final class Scratch {
  let root: String
  let data: String

  init(under: String = temporary, data: String = "data", mode: Int = 0o755) throws {
    root = "\(under)/jejak-test-\(UUID().uuidString)"
    self.data = "\(root)/\(data)"
    try FileManager.default.createDirectory(
      atPath: root,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: mode]
    )
  }

  /// Where temporary files go, without its last slash.
  static var temporary: String { FileManager.default.temporaryDirectory.path }

  /// Kills what a failed test left behind, then removes the directory.
  deinit {
    if let server = serverProcess { kill(server, SIGQUIT) }
    try? FileManager.default.removeItem(atPath: root)
  }

  /// The running server's process, by its pid file.
  var serverProcess: pid_t? {
    guard let text = try? String(contentsOfFile: data + "/pgdata/postmaster.pid", encoding: .utf8),
      let line = text.split(separator: "\n").first, let process = pid_t(line),
      kill(process, 0) == 0
    else { return nil }
    return process
  }

  func join() throws -> Lease {
    try EmbeddedPostgres.join(dataDirectory: data)
  }
}

/// What `psql` prints for one statement at `url`.
func psql(_ url: String, _ statement: String) throws -> String {
  try output("/usr/bin/psql", ["--no-psqlrc", "-AtX", url, "-c", statement])
}

/// The standard output of a program, trimmed.
func output(_ path: String, _ arguments: [String]) throws -> String {
  let process = Process()
  let pipe = Pipe()
  process.executableURL = URL(fileURLWithPath: path)
  process.arguments = arguments
  process.standardOutput = pipe
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return String(decoding: data, as: UTF8.self)
    .trimmingCharacters(in: .whitespacesAndNewlines)
}

/// Whether the tests run as root, as those of the unprivileged server do.
let isRoot = geteuid() == 0
