import Accounts
import Clocks
import HTTP
import Postgres
import Profiles

/// The answers that show a user.
enum UserDocument {
  /// Appends what the ready-made document lacks: version, times, the closing brace.
  static func finish(
    _ body: inout [UInt8],
    version: Version,
    createdAt: Timestamp?,
    updatedAt: Timestamp?
  ) {
    body += ",\"version\":".utf8
    body += version.rawValue.description.utf8
    body += ",\"createdAt\":\"".utf8
    write(createdAt, into: &body)
    body += "\",\"updatedAt\":\"".utf8
    write(updatedAt, into: &body)
    body += "\"}".utf8
  }

  /// Leaves a hole where the commit will tell the time.
  private static func write(_ time: Timestamp?, into body: inout [UInt8]) {
    if let time { time.write(into: &body) } else { body.append(StoredResponse.timeHole) }
  }

  static func body(_ user: CurrentUser) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(user.document.count + 128)
    body += user.document
    finish(
      &body,
      version: user.version,
      createdAt: user.createdAt,
      updatedAt: user.updatedAt
    )
    return body
  }

  static func response(status: UInt16, _ user: CurrentUser) -> Response {
    response(status: status, version: user.version, body: body(user))
  }

  static func response(status: UInt16, version: Version, body: [UInt8]) -> Response {
    var response = Response(status: status, contentType: "application/json", body: body)
    response.add("ETag", EntityTag.text(version))
    response.add("Cache-Control", "private, no-cache")
    return response
  }
}
