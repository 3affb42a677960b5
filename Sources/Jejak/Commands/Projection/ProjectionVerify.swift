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
    // The others are built a second time beside the live table.
    guard projection == CurrentUsers.self else {
      return try rebuild(call, projection, isDryRun: true)
    }
    let progress = Progress("verifying current_users", unit: "events")
    let report = try CurrentUsersVerify(target: call.target, progress: progress.show).run()
    progress.end()
    let names = report.different.map(\.description)
    if call.wantsJSON {
      let body: JSON = [
        "projection": "current_users", "position": .integer(report.position.rawValue),
        "users": .integer(report.users), "differences": .integer(report.differences),
        "different": .array(names.map(JSON.string)),
      ]
      Output.write(String(decoding: body.bytes, as: UTF8.self) + "\n")
    } else {
      Output.write(
        """
        current_users at position \(report.position): \(report.users) users compared, \
        \(report.differences) differ\n
        """
      )
      Output.write(names.map { "differs: \($0)\n" }.joined())
    }
    return report.differences == 0 ? .success : .failure
  }
}
