extension Duration {
  /// Reads a whole number and its unit: `500ms`, `30s`, `15m`, `12h`, `30d`.
  public init?(text: String) {
    let digits = text.utf8.prefix { (48...57).contains($0) }
    guard let number = Int64(String(digits) ?? "") else { return nil }
    let milliseconds: Int64
    switch text.dropFirst(digits.count) {
    case "ms": milliseconds = 1
    case "s": milliseconds = 1_000
    case "m": milliseconds = 60_000
    case "h": milliseconds = 3_600_000
    case "d": milliseconds = 86_400_000
    default: return nil
    }
    let (total, overflow) = number.multipliedReportingOverflow(by: milliseconds)
    guard !overflow else { return nil }
    self = .milliseconds(total)
  }
}
