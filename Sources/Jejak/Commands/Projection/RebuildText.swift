import Clocks
import Projections

/// What commands say of a rebuild, for people.
enum RebuildText {
  /// What has become of it, and the keys that differ.
  static func result(_ rebuild: RebuildRecord) -> String {
    let seconds = rounded(milliseconds(rebuild.workingTime) / 1000)
    var text = "\(rebuild.projection) "
    switch rebuild.state {
    case .done where rebuild.isDryRun: text += "could be rebuilt"
    case .done: text += "rebuilt"
    default: text += "\(rebuild.state.rawValue)"
    }
    if let position = rebuild.caughtUp, let rows = rebuild.rows {
      text += " to position \(position): \(rows) rows from \(rebuild.eventsDone) events"
    } else {
      text += ": \(rebuild.eventsDone) of \(rebuild.eventsTotal) events"
    }
    text += " in \(seconds) s"
    if let pause = rebuild.pause { text += "; writes waited \(milliseconds(pause)) ms" }
    if rebuild.isDryRun, let bytes = rebuild.bytes { text += "; it would take \(bytes) bytes" }
    text += "\n"
    if let differences = rebuild.differences {
      text += "\(differences) rows of the live table differ\n"
      text += rebuild.differing.map { "differs: \($0)\n" }.joined()
    }
    return text
  }

  /// With three decimals.
  private static func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }

  /// One line of `status`.
  static func line(_ rebuild: RebuildRecord) -> [String] {
    let progress = rebuild.progress
    return [
      rebuild.createdAt.description, state(rebuild), percent(progress.percent),
      "\(rebuild.eventsDone) of \(rebuild.eventsTotal)", "\(Int64(progress.rate))/s",
      rebuild.isOpen ? left(progress) : "-", "\(rebuild.workers)",
    ]
  }

  static let header = ["BEGUN", "STATE", "DONE", "EVENTS", "RATE", "LEFT", "WORKERS"]

  private static func state(_ rebuild: RebuildRecord) -> String {
    let waits =
      rebuild.isOpen && !rebuild.isHeld && rebuild.state != .failed
      && rebuild.state != .differs
    return rebuild.state.rawValue + (rebuild.isDryRun ? ", dry run" : "")
      + (waits ? (rebuild.wanted == "pause" ? ", paused" : ", interrupted") : "")
  }

  /// With one decimal, rounded down: 100 % is all.
  static func percent(_ percent: Double) -> String {
    "\((percent * 10).rounded(.down) / 10) %"
  }

  static func left(_ progress: RebuildProgress) -> String {
    guard let seconds = progress.secondsLeft else { return "?" }
    let whole = Int64(seconds.rounded(.up))
    return whole < 120 ? "\(whole) s" : "\(whole / 60) min"
  }
}
