import CPostgres

/// The database `jejak`, its owner, which is no superuser and makes no roles, and the role that a
/// service logs in as, which owns nothing.
struct Database {
  static let name = "jejak"
  static let service = "jejak_service"
  /// The superuser that `initdb` makes; for repairs, not for the service.
  static let superuser = "postgres"

  let socketDirectory: String
  let log: String

  var url: String { url(role: Self.name, database: Self.name) }
  var serviceURL: String { url(role: Self.service, database: Self.name) }

  /// Whether the server accepts connections.
  var isReady: Bool { PQping(url + "&connect_timeout=5") == PQPING_OK }

  /// Makes role and database where they are missing, as after a first start.
  func provision() throws(EmbeddedPostgresError) {
    if Session(url).isOpen { return }
    let session = Session(url(role: Self.superuser, database: "postgres"))
    let name = Self.name
    if try !session.hasRow("SELECT FROM pg_roles WHERE rolname = '\(name)'", log: log) {
      try session.run("CREATE ROLE \(name) LOGIN", log: log)
      try session.run("GRANT pg_monitor TO \(name)", log: log)
      try session.run("CREATE ROLE \(Self.service) LOGIN", log: log)
      try session.run("GRANT \(Self.service) TO \(name)", log: log)
    }
    if try !session.hasRow("SELECT FROM pg_database WHERE datname = '\(name)'", log: log) {
      try session.run("CREATE DATABASE \(name) OWNER \(name)", log: log)
      try session.run("REVOKE TEMPORARY ON DATABASE \(name) FROM PUBLIC", log: log)
    }
  }

  private func url(role: String, database: String) -> String {
    "postgresql://\(role)@/\(database)?host=\(percentEncoded(socketDirectory))"
  }
}

/// Owner of one libpq connection; `PQfinish` runs exactly once.
private struct Session: ~Copyable {
  private let handle: OpaquePointer?

  init(_ url: String) {
    handle = PQconnectdb(url + "&connect_timeout=10")
  }

  deinit { PQfinish(handle) }

  var isOpen: Bool { PQstatus(handle) == CONNECTION_OK }

  func run(_ statement: String, log: String) throws(EmbeddedPostgresError) {
    _ = try hasRow(statement, log: log)
  }

  func hasRow(_ statement: String, log: String) throws(EmbeddedPostgresError) -> Bool {
    let result = PQexec(handle, statement)
    defer { PQclear(result) }
    let status = PQresultStatus(result)
    guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
      let message = String(cString: PQerrorMessage(handle))
      throw .startFailed(
        reason: message.split(separator: "\n").first.map(String.init) ?? "",
        log: log
      )
    }
    return PQntuples(result) > 0
  }
}

/// `text` with all but the unreserved characters of RFC 3986 percent-encoded.
private func percentEncoded(_ text: String) -> String {
  let digits = Array("0123456789ABCDEF")
  return text.utf8.reduce(into: "") { result, byte in
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      result.unicodeScalars.append(Unicode.Scalar(byte))
    default:
      result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }
  }
}
