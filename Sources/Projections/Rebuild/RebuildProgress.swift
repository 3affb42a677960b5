/// How far a running rebuild is.
public struct RebuildProgress: Sendable {
  private static let highestRate = 1e15

  /// What it is at.
  public let phase: RebuildRecord.State
  /// Events that are folded.
  public let eventsDone: Int64
  /// Events that are to be folded, as far as is known.
  public let eventsTotal: Int64
  /// Events a second, since this process began.
  public let rate: Double

  /// The share that is done, in percent, with all that is known to come; 0 while that is unknown.
  public var percent: Double {
    guard eventsTotal > 0 else { return phase == .done ? 100 : 0 }
    return min(100, Double(eventsDone) * 100 / Double(eventsTotal))
  }

  /// Seconds until all is folded, at this rate; nil where nothing has been folded yet.
  public var secondsLeft: Double? {
    rate > 0 ? min(Double(max(0, eventsTotal - eventsDone)) / rate, Self.highestRate) : nil
  }

  /// One of a rebuild.
  public init(phase: RebuildRecord.State, eventsDone: Int64, eventsTotal: Int64, rate: Double) {
    self.phase = phase
    self.eventsDone = eventsDone
    self.eventsTotal = eventsTotal
    // Up to what every integer holds.
    self.rate = min(rate, Self.highestRate)
  }
}

extension RebuildRecord {
  /// The progress as the table has it, which is at most a second old while it runs.
  public var progress: RebuildProgress {
    let (seconds, attoseconds) = workingTime.components
    let time = Double(seconds) + Double(attoseconds) / 1e18
    return RebuildProgress(
      phase: state,
      eventsDone: eventsDone,
      eventsTotal: eventsTotal,
      rate: time > 0 ? Double(eventsDone) / time : 0
    )
  }
}
