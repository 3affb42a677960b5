import EventLog
import JSON
import Postgres
import Projections
import Settings

extension ProjectionVerb {
  static var resume: Self {
    Self(
      name: "resume",
      help: "lets it try the event it has stopped at again, and its rebuild go on.",
      options: goingOnOptions,
      run: resume
    )
  }

  private static func resume(_ call: Call) throws -> ExitStatus {
    let projection = try call.projection()
    let connection = try call.connection()
    if let open = try RebuildRecord.open(of: call.name, connection) {
      return try resume(open, of: projection, call, connection)
    }
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

  /// Goes on with a rebuild, here or where it began; a stop is cleared too.
  private static func resume(
    _ open: RebuildRecord,
    of projection: any Projection.Type,
    _ call: Call,
    _ connection: borrowing BlockingConnection
  ) throws -> ExitStatus {
    if let stop = try ProjectionState.resume(call.name, connection) {
      Output.complain("jejak: \(call.name) goes on with the event at position \(stop.position)\n")
    }
    var options = try options(call)
    options.isDryRun = open.isDryRun
    guard open.isInService else { return tell(try rebuild(call, projection, options), call) }
    options.isInService = true
    try RebuildOrders.adopt(open.id, options, connection)
    if call.wantsJSON {
      Output.write(try RebuildRecord.find(open.id, connection)?.json ?? .null)
    } else {
      Output.write("the service goes on with the rebuild of \(call.name)\n")
    }
    return .success
  }
}
