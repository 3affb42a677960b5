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

  /// Why a program of PostgreSQL gave up: its last fatal message, else its last line.
  var lastWords: String {
    let lines = contents(of: newestLog).split(separator: "\n")
    let fatal = lines.last { $0.contains("FATAL:") || $0.contains("PANIC:") }
    let line = fatal ?? contents(of: startLog).split(separator: "\n").last
    return line.map(String.init) ?? "no message"
  }

  /// Where the server last wrote to: its own log once it has opened that.
  var newestLog: String {
    guard contents(of: startLog).contains("redirecting log output") else { return startLog }
    let logs = entries(of: cluster + "/log").map { cluster + "/log/" + $0 }
    return logs.max { modified($0) < modified($1) } ?? startLog
  }

  private func modified(_ path: String) -> Int { status(of: path)?.st_mtim.tv_sec ?? 0 }
}

/// What `lstat` says, or nil.
func status(of path: String) -> stat? {
  var status = stat()
  return lstat(path, &status) == 0 ? status : nil
}

/// The names in a directory; none where it cannot be read.
func entries(of directory: String) -> [String] {
  guard let stream = opendir(directory) else { return [] }
  defer { _ = closedir(stream) }
  var names: [String] = []
  while let entry = readdir(stream) {
    let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    if !name.hasPrefix(".") { names.append(name) }
  }
  return names
}

/// The last 16 KiB of a file; empty where it cannot be read, or is a link.
func contents(of path: String) -> String {
  guard let file = try? FileDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW) else {
    return ""
  }
  // Not for the files of /proc, which have no size.
  if file.status.st_size > 16_384 { lseek(file.number, -16_384, SEEK_END) }
  var bytes = [UInt8](repeating: 0, count: 16_384)
  let count = read(file.number, &bytes, bytes.count)
  return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
}

/// The first line of a file; nil where it cannot be read.
func firstLine(of path: String) -> String? {
  contents(of: path).split(separator: "\n").first.map(String.init)
}
