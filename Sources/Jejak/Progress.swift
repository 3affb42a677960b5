import Clocks
import EventLoop
import Glibc

/// Shows on a terminal's standard error how far something has come; elsewhere, a line now and then.
final class Progress {
  private let title: String
  private let unit: String
  private let begin = Instant.now()
  private var shown: Instant?
  private let isTerminal = isatty(2) == 1

  init(_ title: String, unit: String) {
    self.title = title
    self.unit = unit
  }

  /// Says that `done` of `total` are done, unless that was said a moment ago.
  func show(_ done: Int64, _ total: Int64) {
    let now = Instant.now()
    let pause = isTerminal ? Duration.milliseconds(200) : .seconds(5)
    guard now - (shown ?? begin) >= pause, done > 0 else { return }
    shown = now
    let seconds = Double((now - begin).components.seconds) + 0.001
    let rate = Double(done) / seconds
    let percent = total > 0 ? min(100, done * 100 / total) : 100
    let left = Int(Double(max(0, total - done)) / rate)
    let line =
      "\(title): \(percent) %, \(done) of \(total) \(unit), \(Int(rate)) /s, \(left) s left"
    Output.complain(isTerminal ? "\r\u{1B}[K\(line)" : line + "\n")
  }

  /// Takes the line off the terminal.
  func end() {
    if isTerminal, shown != nil { Output.complain("\r\u{1B}[K") }
  }
}
