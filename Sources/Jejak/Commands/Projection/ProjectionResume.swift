import EventLog
import JSON
import Postgres
import Projections
import Settings

extension ProjectionVerb {
  static var resume: Self {
    Self(name: "resume", help: "lets one that has stopped try its event again.", run: resume)
  }

  private static func resume(_ call: Call) throws -> ExitStatus {
    guard ReadModels.named(call.name) != nil else {
      throw UsageError("there is no projection '\(call.name)'; see jejak projection list")
    }
    let connection = try BlockingConnection(
      target: call.target,
      applicationName: "jejak projection"
    )
    let stop = try ProjectionState.resume(call.name, connection)
    if call.wantsJSON {
      let body: JSON = [
        "projection": .string(call.name), "resumed": .bool(stop != nil),
        "position": stop.map { .integer($0.position.rawValue) } ?? .null,
      ]
      Output.write(String(decoding: body.bytes, as: UTF8.self) + "\n")
    } else if let stop {
      Output.write(
        """
        \(call.name) goes on with the event at position \(stop.position), \
        where it had stopped: \(stop.reason)\n
        """
      )
    } else {
      Output.write("\(call.name) has not stopped; there is nothing to do\n")
    }
    return .success
  }
}
