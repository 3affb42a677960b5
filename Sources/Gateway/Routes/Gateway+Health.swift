import Accounts
import HTTP

extension Gateway {
  /// `GET /livez`: the process answers.
  func live(_ request: Request) throws(Problem) -> Response {
    Self.ok
  }

  /// `GET /readyz`: the database's connections stand, which are opened when its schema is right.
  func ready(_ request: Request) throws(Problem) -> Response {
    guard shared.isReady else { throw .unavailable("The database can't be reached.") }
    return Self.ok
  }

  private static var ok: Response {
    var response = Response(
      status: 200, contentType: "application/json", body: Array("{\"status\":\"ok\"}".utf8))
    response.add("Cache-Control", "no-store")
    return response
  }
}
