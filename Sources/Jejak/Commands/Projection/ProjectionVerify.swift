import EventLog
import JSON
import Profiles
import Projections
import Settings

extension ProjectionVerb {
  static var verify: Self {
    Self(name: "verify", help: "holds it against the log.", run: verify)
  }

  private static func verify(_ call: Call) throws -> ExitStatus {
    let projection = try call.projection()
    guard projection == CurrentUsers.self else { return try verify(call, projection) }
    let progress = Progress("verifying current_users", unit: "events")
    let report = try CurrentUsersVerify(
      target: call.target,
      keyring: call.database.keyring(),
      progress: progress.show
    ).run()
    progress.end()
    return tell(
      call,
      position: report.position.rawValue,
      rows: report.users,
      differences: report.differences,
      report.different.map(\.description)
    )
  }

  /// Builds the others a second time beside the live table, which stays.
  private static func verify(
    _ call: Call,
    _ projection: any Projection.Type
  ) throws -> ExitStatus {
    var options = RebuildOptions()
    options.isDryRun = true
    let rebuild = try rebuild(call, projection, options)
    guard rebuild.state == .done, let position = rebuild.caughtUp, let rows = rebuild.rows,
      let differences = rebuild.differences
    else { return tell(rebuild, call) }
    return tell(
      call,
      position: position,
      rows: rows,
      differences: differences,
      rebuild.differing
    )
  }

  private static func tell(
    _ call: Call,
    position: Int64,
    rows: Int64,
    differences: Int64,
    _ different: [String]
  ) -> ExitStatus {
    if call.wantsJSON {
      let body: JSON = [
        "projection": .string(call.name), "position": .integer(position), "rows": .integer(rows),
        "differences": .integer(differences), "different": .array(different.map(JSON.string)),
      ]
      Output.write(String(decoding: body.bytes, as: UTF8.self) + "\n")
    } else {
      Output.write(
        """
        \(call.name) at position \(position): \(RebuildText.count(rows, "row")) compared, \
        \(differences) \(differences == 1 ? "differs" : "differ")\n
        """
      )
      Output.write(different.map { "differs: \($0)\n" }.joined())
    }
    return differences == 0 ? .success : .failure
  }
}
