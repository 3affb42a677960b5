import HTTP
import JSON
import Postgres

extension Gateway {
  /// Answers `GET /livez`: the process answers.
  func live(_ request: Request) throws(Problem) -> Response {
    Self.health(Array("{\"status\":\"ok\"}".utf8))
  }

  /// Answers `GET /readyz`: every loop's connections stand, which are opened once the schema is
  /// right.
  ///
  /// A projection that has stopped is told, and so are a notary that refuses to sign, a list of
  /// erasures that can't be kept, and a key file that has lost the master key, and the answer stays
  /// 200: what is asked most, profiles and sessions, doesn't need them yet, and other processes are
  /// no better off. Where this process doesn't know the master key, others may.
  func ready(_ request: Request) throws(Problem) -> Response {
    guard shared.readiness.isComplete else {
      throw .unavailable("The database can't be used yet, or was lost.")
    }
    let projections = shared.projectionHealth.report
    let notary = shared.notaryHealth.report
    let erasures = shared.erasureHealth.report
    let keys = try shared.keyHealth.report
    let isDegraded =
      projections?.isDegraded == true || notary?.isDegraded == true || erasures != nil
      || keys != nil
    var body: JSONObject = ["status": .string(isDegraded ? "degraded" : "ok")]
    if let projections { body["projections"] = projections.json }
    if let notary { body["notary"] = notary.json }
    if let erasures { body["erasures"] = erasures }
    if let keys { body["keys"] = keys }
    return Self.health(JSON.object(body).bytes)
  }

  private static func health(_ body: [UInt8]) -> Response {
    var response = Response(status: 200, contentType: "application/json", body: body)
    response.add("Cache-Control", "no-store")
    return response
  }
}
