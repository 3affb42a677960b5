import Clocks
public import JSON
import Profiles

extension RebuildRecord {
  /// The rebuild as commands and the HTTP interface show it.
  public var json: JSON {
    let progress = progress
    return [
      "id": .string(id.description), "projection": .string(projection),
      "revision": .integer(Int64(revision)), "state": .string(state.rawValue),
      "wanted": .string(wanted), "isRunning": .bool(isHeld && isOpen),
      "waiting": waiting.map { .string($0.rawValue) } ?? .null,
      "inService": .bool(isInService), "workers": .integer(Int64(workers)),
      "throttle": throttle.map { .integer(Int64($0)) } ?? .null, "dryRun": .bool(isDryRun),
      "acceptDifferences": .bool(acceptsDifferences),
      "position": caughtUp.map(JSON.integer) ?? .null, "eventsDone": .integer(eventsDone),
      "eventsTotal": .integer(eventsTotal), "percent": progress.percentJSON,
      "rate": .integer(Int64(progress.rate)), "secondsLeft": isOpen ? progress.leftJSON : .null,
      "seconds": .real(workingTime.fractionalMilliseconds.rounded() / 1000),
      "rows": rows.map(JSON.integer) ?? .null,
      "bytes": bytes.map(JSON.integer) ?? .null,
      "differences": differences.map(JSON.integer) ?? .null,
      "differing": .array(differing.map(JSON.string)),
      "pauseMilliseconds": pause.map { .real($0.fractionalMilliseconds) } ?? .null,
      "error": error.map(JSON.string) ?? .null,
      "requestedBy": requestedBy.map(JSON.string) ?? .null,
      "createdAt": .string(createdAt.description),
      "finishedAt": finishedAt.map { .string($0.description) } ?? .null,
    ]
  }

  /// What is told of an open rebuild along with its projection.
  var summary: JSON {
    [
      "id": .string(id.description), "state": .string(state.rawValue),
      "isRunning": .bool(isHeld), "waiting": waiting.map { .string($0.rawValue) } ?? .null,
      "dryRun": .bool(isDryRun), "percent": progress.percentJSON,
    ]
  }
}

extension RebuildProgress {
  /// The progress, as a line for machines.
  public var json: JSON {
    [
      "phase": .string(phase.rawValue), "eventsDone": .integer(eventsDone),
      "eventsTotal": .integer(eventsTotal), "percent": percentJSON, "rate": .integer(Int64(rate)),
      "secondsLeft": leftJSON,
    ]
  }

  /// With two decimals.
  fileprivate var percentJSON: JSON { .real((percent * 100).rounded(.down) / 100) }

  /// Whole seconds, or null.
  fileprivate var leftJSON: JSON {
    secondsLeft.map { .integer(Int64($0.rounded(.up))) } ?? .null
  }
}
