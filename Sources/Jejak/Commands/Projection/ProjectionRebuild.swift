import EventLoop
import Glibc
import Projections
import Settings

extension ProjectionVerb {
  static var rebuild: Self {
    Self(
      name: "rebuild",
      help: "builds it anew from the log, or goes on with what was interrupted.",
      options: goingOnOptions + [
        CommandOption(
          "dry-run",
          help: "Build and verify the new table, then drop it; the live one stays."
        )
      ],
      run: rebuild
    )
  }

  /// What a rebuild takes that goes on, as one does that begins.
  static let goingOnOptions = [
    CommandOption(
      "workers",
      "N",
      help: "How many threads fold, each with two connections; default: one for each core, "
        + "at most \(RebuildOptions.workerLimit)."
    ),
    CommandOption("throttle", "N", help: "Fold at most so many events a second."),
    CommandOption(
      "accept-differences",
      help: "Exchange the tables although they differ: the log is right and the table wrong."
    ),
  ]

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
    let rebuild = try Rebuild(target: call.target, keyring: call.database.keyring())
    let begun = try rebuild.begin(projection, options)
    if begun.isResumed {
      let kept = kept(by: begun.rebuild, options)
      Output.complain(
        """
        jejak: going on with the rebuild of \(call.name)\
        \(kept.isEmpty ? "" : ", as it was begun: \(kept.joined(separator: " "))")\n
        """
      )
    }
    let display = RebuildDisplay(call.name, wantsJSON: call.wantsJSON)
    var isInterrupted = false
    defer { display.end() }
    do {
      return try rebuild.run(begun.rebuild, of: projection) { (progress) -> Bool in
        display.show(progress)
        if StopSignals.wait(atMost: .zero) {
          // Whoever asks twice doesn't want to wait; the next run goes on all the same.
          if isInterrupted { Glibc.exit(ExitStatus.failure.rawValue) }
          isInterrupted = true
        }
        return !isInterrupted
      }
    } catch {
      throw CommandError("\(error)\(afterFailure(of: begun.rebuild, call))")
    }
  }

  /// The options that a rebuild goes on with since it was begun with them, though they are neither
  /// given now nor what a new one would have.
  private static func kept(by rebuild: RebuildRecord, _ given: RebuildOptions) -> [String] {
    var kept: [String] = []
    if given.workers == nil, rebuild.workers != RebuildOptions.defaultWorkers {
      kept.append("--workers \(rebuild.workers)")
    }
    if given.throttle == nil, let throttle = rebuild.throttle {
      kept.append("--throttle \(throttle)")
    }
    if !given.acceptsDifferences, rebuild.acceptsDifferences {
      kept.append("--accept-differences")
    }
    return kept
  }

  /// What there is to do about a rebuild that has met an error, as lines behind the error; nothing
  /// where the database can't tell how it stands.
  private static func afterFailure(of rebuild: RebuildRecord, _ call: Call) -> String {
    guard let connection = try? call.connection(),
      let now = try? RebuildRecord.find(rebuild.id, connection)
    else { return "" }
    if now.isOpen { return "\n" + RebuildText.nextStep(now).dropLast() }
    return rebuild.isDryRun ? "\n  the dry run has ended; mend the cause and try again" : ""
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
        jejak: the tables differ, and were not exchanged
        \(RebuildText.nextStep(rebuild))
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
