import Accounts
import HTTP

extension Gateway {
  /// `GET /livez`: the process answers.
  func live(_ request: Request) throws(Problem) -> Response {
    Self.ok
  }

  /// `GET /readyz`: the schema is the right one, and the database's connections stand.
  func ready(_ request: Request) throws(Problem) -> Response {
    guard shared.started else { throw .unavailable("The database is not ready yet.") }
    guard connections.areReady else { throw .unavailable("The database can't be reached.") }
    return Self.ok
  }

  private static var ok: Response {
    var response = Response(
      status: 200, contentType: "application/json", body: Array("{\"status\":\"ok\"}".utf8))
    response.add("Cache-Control", "no-store")
    return response
  }
}
