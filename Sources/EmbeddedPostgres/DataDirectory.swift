import CLinux
import Glibc

/// The files under one data directory.
struct DataDirectory: Sendable {
  /// Absolute, without symbolic links.
  let path: String

  var cluster: String { path + "/pgdata" }
  /// Where `initdb` works; renamed to `cluster` when whole.
  var unfinishedCluster: String { path + "/pgdata.new" }
  var lease: String { path + "/lease" }
  var startLock: String { path + "/start.lock" }
  /// What the server says before its own log is open, and what `initdb` says.
  var startLog: String { path + "/postgres-start.log" }

  /// Makes the directory where it is missing, private to its owner.
  init(_ given: String) throws(EmbeddedPostgresError) {
    var made = given.hasPrefix("/") ? "" : "."
    for part in given.split(separator: "/") {
      made += "/" + part
      if mkdir(made, 0o700) != 0, errno != EEXIST { throw .system(made) }
    }
    guard let resolved = realpath(given, nil) else { throw .system(given) }
    defer { free(resolved) }
    path = String(cString: resolved)
  }

  var owner: ServerUser? { status(of: path).map(ServerUser.init(ownerOf:)) }
  var clusterStatus: stat? { status(of: cluster) }

  /// The major version that the data was made by.
  var major: Int? {
    guard let text = firstLine(of: cluster + "/PG_VERSION") else { return nil }
    return Int(text)
  }

  /// The last line of the start log, for an error.
  var lastWords: String {
    contents(of: startLog).split(separator: "\n").last.map(String.init) ?? "no message"
  }
}

/// What `lstat` says, or nil.
func status(of path: String) -> stat? {
  var status = stat()
  return lstat(path, &status) == 0 ? status : nil
}

/// The first 16 KiB of a file; empty where it cannot be read.
func contents(of path: String) -> String {
  guard let file = try? FileDescriptor(opening: path, flags: O_RDONLY) else { return "" }
  var bytes = [UInt8](repeating: 0, count: 16_384)
  let count = read(file.number, &bytes, bytes.count)
  return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
}

/// The first line of a file; nil where it cannot be read.
func firstLine(of path: String) -> String? {
  contents(of: path).split(separator: "\n").first.map(String.init)
}
