import CLinux
import Glibc

/// Where the installed `initdb` and `postgres` are.
struct ServerBinaries: Sendable {
  /// The oldest server that the schema is written for.
  static let oldestMajor = 15
  private static let debianRoot = "/usr/lib/postgresql"

  let directory: String

  var initdb: String { directory + "/initdb" }
  var postgres: String { directory + "/postgres" }
  /// Debian builds its server with LZ4; others may not.
  var walCompression: String { directory.hasPrefix(Self.debianRoot) ? "lz4" : "on" }

  /// The binaries of `major`, as existing data needs them, or else the newest.
  static func find(major: Int?) throws(EmbeddedPostgresError) -> ServerBinaries {
    let package = "postgresql-\(major ?? oldestMajor)"
    for directory in candidates(major: major) where isServer(directory) {
      return ServerBinaries(directory: directory)
    }
    throw .serverNotInstalled(package: package)
  }

  private static func candidates(major: Int?) -> [String] {
    let wanted =
      if let major { [major] } else {
        entries(of: debianRoot).compactMap { Int($0) }.filter { $0 >= oldestMajor }
          .sorted(by: >)
      }
    let debian = wanted.map { "\(debianRoot)/\($0)/bin" }
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    let configured = output(of: "pg_config --bindir 2>/dev/null")
    let elsewhere = [configured] + path.split(separator: ":").map(String.init)
    return debian
      + elsewhere.filter { directory in
        guard isServer(directory), let found = version(of: directory) else { return false }
        return major.map { $0 == found } ?? (found >= oldestMajor)
      }
  }

  private static func isServer(_ directory: String) -> Bool {
    directory.hasPrefix("/") && access(directory + "/initdb", X_OK) == 0
      && access(directory + "/postgres", X_OK) == 0
  }

  /// The major version that `postgres --version` tells; nil where the path needs quoting.
  private static func version(of directory: String) -> Int? {
    guard !directory.contains("'") else { return nil }
    return output(of: "'\(directory)/postgres' --version 2>/dev/null")
      .split(separator: " ").lazy
      .compactMap { Int($0.prefix { $0.isNumber }) }.first
  }

  private static func output(of command: String) -> String {
    guard let stream = popen(command, "r") else { return "" }
    defer { _ = pclose(stream) }
    var line = [UInt8](repeating: 0, count: 4096)
    let count = fread(&line, 1, line.count, stream)
    return String(decoding: line[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
  }
}
