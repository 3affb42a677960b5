import HTTP
import Postgres

extension Gateway {
  /// Answers `GET /livez`: the process answers.
  func live(_ request: Request) throws(Problem) -> Response {
    Self.ok
  }

  /// Answers `GET /readyz`: every loop's connections stand, which are opened once the schema is right.
  func ready(_ request: Request) throws(Problem) -> Response {
    guard shared.readiness.isComplete else {
      throw .unavailable("The database can't be used yet, or was lost.")
    }
    return Self.ok
  }

  private static var ok: Response {
    var response = Response(
      status: 200,
      contentType: "application/json",
      body: Array("{\"status\":\"ok\"}".utf8)
    )
    response.add("Cache-Control", "no-store")
    return response
  }
}
