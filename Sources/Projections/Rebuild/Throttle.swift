import Clocks

/// So many events a second at most, over all workers: each batch of events moves the moment at
/// which the next one may begin.
struct Throttle {
  /// Steps of a second's work: each is over before others who want the server have waited long.
  private static let stepsPerSecond = 50

  /// Events a second; nil: no limit.
  var rate: Int32?
  private var due = Instant.now()

  init(rate: Int32?) {
    self.rate = rate
  }

  /// Counts `events` and gives the moment until which whoever read them has to wait.
  mutating func take(_ events: Int) -> Instant? {
    guard let rate, rate > 0 else { return nil }
    // What was not used is not saved up.
    due = max(due, .now()) + .nanoseconds(Int64(events) * 1_000_000_000 / Int64(rate))
    return due
  }

  /// Events of one step at this rate, `limit` at most.
  static func step(at rate: Int32?, atMost limit: Int) -> Int {
    rate.map { max(1, min(limit, Int($0) / stepsPerSecond)) } ?? limit
  }
}
