import Projections
import Settings

extension ProjectionVerb {
  static var rebuild: Self {
    Self(name: "rebuild", help: "builds it anew from the log.", run: rebuild)
  }

  private static func rebuild(_ call: Call) throws -> ExitStatus {
    guard call.name == "current_users" else {
      throw UsageError("there is no projection '\(call.name)'; see jejak projection list")
    }
    let progress = Progress("rebuilding current_users", unit: "events")
    let report = try CurrentUsersRebuild(target: call.target, progress: progress.show).run()
    progress.end()
    let pause = milliseconds(report.pause)
    if call.wantsJSON {
      Output.write(
        """
        {"projection":"current_users","position":\(report.position),"events":\(report.events),\
        "users":\(report.users),"seconds":\(milliseconds(report.duration) / 1000),\
        "pauseMilliseconds":\(pause)}\n
        """
      )
    } else {
      Output.write(
        """
        current_users rebuilt to position \(report.position): \(report.users) users from \
        \(report.events) events in \(milliseconds(report.duration) / 1000) s; \
        writes waited \(pause) ms\n
        """
      )
    }
    return .success
  }
}
