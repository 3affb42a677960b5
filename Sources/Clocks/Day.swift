/// A day of the calendar in UTC, as clocks count them.
public struct Day: Hashable, Comparable, Sendable {
  /// Days since 1970-01-01.
  public let daysSince1970: Int32

  /// The day so many days after 1970 began.
  public init(daysSince1970: Int32) { self.daysSince1970 = daysSince1970 }

  /// The day on which `time` is.
  public init(of time: Timestamp) {
    let (quotient, rest) = time.microseconds.quotientAndRemainder(dividingBy: Self.microseconds)
    daysSince1970 = Int32(truncatingIfNeeded: rest < 0 ? quotient - 1 : quotient)
  }

  /// The first instant of the day.
  public var begin: Timestamp { Timestamp(microseconds: Int64(daysSince1970) * Self.microseconds) }

  /// Whether `left` comes before `right`.
  public static func < (left: Day, right: Day) -> Bool {
    left.daysSince1970 < right.daysSince1970
  }

  private static let microseconds: Int64 = 86_400_000_000
}

extension Day: CustomStringConvertible {
  /// `YYYY-MM-DD`.
  public var description: String { String(begin.description.prefix(10)) }
}
