import Clocks
import Projections

/// What commands say of a rebuild, for people.
enum RebuildText {
  /// What has become of it, and the keys that differ.
  static func result(_ rebuild: RebuildRecord) -> String {
    let seconds = rounded(rebuild.workingTime.fractionalMilliseconds / 1000)
    var text = "\(rebuild.projection) "
    switch rebuild.state {
    case .done where rebuild.isDryRun: text += "could be rebuilt"
    case .done: text += "rebuilt"
    default: text += state(rebuild)
    }
    if let position = rebuild.caughtUp, let rows = rebuild.rows {
      text += " to position \(position): \(count(rows, "row")) from "
      text += count(rebuild.eventsDone, "event")
    } else {
      text += ": \(rebuild.eventsDone) of \(count(rebuild.eventsTotal, "event"))"
    }
    text += " in \(seconds) s"
    if let pause = rebuild.pause { text += "; writes waited \(pause.fractionalMilliseconds) ms" }
    if rebuild.isDryRun, let bytes = rebuild.bytes { text += "; it would take \(bytes) bytes" }
    text += "\n"
    if let differences = rebuild.differences {
      text +=
        "\(count(differences, "row")) of the live table \(differences == 1 ? "differs" : "differ")\n"
      text += rebuild.differing.map { "differs: \($0)\n" }.joined()
    }
    return text
  }

  /// The number and what is counted, such as "1 row" and "2 rows".
  static func count(_ number: Int64, _ thing: String) -> String {
    "\(number) \(thing)\(number == 1 ? "" : "s")"
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
    rebuild.state.rawValue + (rebuild.isDryRun ? ", dry run" : "")
      + (rebuild.waiting.map { ", \($0.rawValue)" } ?? "")
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
