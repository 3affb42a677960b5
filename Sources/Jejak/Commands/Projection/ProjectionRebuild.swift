import EventLoop
import Glibc
import Projections
import Settings

extension ProjectionVerb {
  static var rebuild: Self {
    Self(
      name: "rebuild",
      help: "builds it anew from the log, or goes on with what was interrupted.",
      options: [
        CommandOption(
          "workers",
          "N",
          help: "How many threads fold, each with two connections; default: one for each core, "
            + "at most \(RebuildOptions.workerLimit)."
        ),
        CommandOption("throttle", "N", help: "Fold at most so many events a second."),
        CommandOption(
          "dry-run",
          help: "Build and verify the new table, then drop it; the live one stays."
        ),
        CommandOption(
          "accept-differences",
          help: "Exchange the tables although they differ: the log is right and the table wrong."
        ),
      ],
      run: rebuild
    )
  }

  private static func rebuild(_ call: Call) throws -> ExitStatus {
    var options = try options(call)
    options.isDryRun = call.arguments.has("dry-run")
    return tell(try rebuild(call, call.projection(), options), call)
  }

  /// What the options of the command say, where it has them.
  static func options(_ call: Call) throws -> RebuildOptions {
    var options = RebuildOptions()
    options.workers = try call.number("workers", atMost: RebuildOptions.workerLimit)
    options.throttle = try call.number("throttle", atMost: RebuildOptions.throttleLimit)
    options.acceptsDifferences = call.arguments.has("accept-differences")
    return options
  }

  /// Begins or goes on, and shows how far it is, until it ends.
  static func rebuild(
    _ call: Call,
    _ projection: any Projection.Type,
    _ options: RebuildOptions
  ) throws -> RebuildRecord {
    StopSignals.block()
    let rebuild = try Rebuild(target: call.target)
    let begun = try rebuild.begin(projection, options)
    if begun.isResumed { Output.complain("jejak: going on with the rebuild of \(call.name)\n") }
    let display = RebuildDisplay(call.name, wantsJSON: call.wantsJSON)
    var isInterrupted = false
    let result = try rebuild.run(begun.rebuild, of: projection) { (progress) -> Bool in
      display.show(progress)
      if StopSignals.wait(atMost: .zero) {
        // Whoever asks twice doesn't want to wait; the next run goes on all the same.
        if isInterrupted { Glibc.exit(ExitStatus.failure.rawValue) }
        isInterrupted = true
      }
      return !isInterrupted
    }
    display.end()
    return result
  }

  /// Says what has become of it.
  static func tell(_ rebuild: RebuildRecord, _ call: Call) -> ExitStatus {
    if call.wantsJSON {
      Output.write(rebuild.json)
    } else {
      Output.write(RebuildText.result(rebuild))
    }
    switch rebuild.state {
    case .done: return rebuild.isDryRun && rebuild.differences ?? 0 > 0 ? .failure : .success
    case .differs:
      Output.complain(
        """
        jejak: the tables differ, and were not exchanged; where the log is right, go on with
          jejak projection rebuild \(rebuild.projection) --accept-differences
        or give up with
          jejak projection cancel \(rebuild.projection)\n
        """
      )
    case .cancelled: Output.complain("jejak: the rebuild was cancelled\n")
    default:
      Output.complain(
        "jejak: the rebuild pauses; go on with jejak projection resume \(rebuild.projection)\n"
      )
    }
    return .failure
  }
}
