/// How much a record matters, least first.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
  /// Of use to who works on the code.
  case debug
  /// The ordinary course of things.
  case info
  /// Ordinary, and worth an operator's eye.
  case notice
  /// Something is wrong that the service copes with.
  case warning
  /// Something has failed.
  case error

  /// Orders the levels by weight.
  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

  private var rank: Int {
    switch self {
    case .debug: 0
    case .info: 1
    case .notice: 2
    case .warning: 3
    case .error: 4
    }
  }
}
