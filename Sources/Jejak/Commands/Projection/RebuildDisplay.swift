import Clocks
import Glibc
import Projections

/// Shows how far a rebuild is: a bar on a terminal, a line now and then elsewhere, or JSON lines.
final class RebuildDisplay {
  private static let barWidth = 24

  private let name: String
  private let wantsJSON: Bool
  private let isTerminal = isatty(2) == 1
  private var shown = Instant.now()
  private var hasLine = false

  init(_ name: String, wantsJSON: Bool) {
    self.name = name
    self.wantsJSON = wantsJSON
  }

  /// Shows the progress, unless something was shown a moment ago.
  func show(_ progress: RebuildProgress) {
    let pause = wantsJSON ? Duration.seconds(1) : isTerminal ? .milliseconds(200) : .seconds(5)
    let now = Instant.now()
    guard now - shown >= pause else { return }
    shown = now
    if wantsJSON { return Output.write(progress.json) }
    let filled = Int(progress.percent) * Self.barWidth / 100
    let bar =
      String(repeating: "#", count: filled)
      + String(repeating: "-", count: Self.barWidth - filled)
    let line = """
      \(name): \(progress.phase.rawValue) \(isTerminal ? "[\(bar)] " : "")\
      \(RebuildText.percent(progress.percent)), \(progress.eventsDone) of \
      \(progress.eventsTotal) events, \(Int64(progress.rate))/s, \(RebuildText.left(progress)) left
      """
    Output.complain(isTerminal ? "\r\u{1B}[K\(line)" : line + "\n")
    hasLine = true
  }

  /// Takes the line off the terminal.
  func end() {
    if isTerminal, hasLine { Output.complain("\r\u{1B}[K") }
  }
}
