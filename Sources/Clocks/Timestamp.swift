import Glibc

/// An instant in UTC with microseconds, as people and PostgreSQL tell time.
public struct Timestamp: Comparable, Hashable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z.
  public let microseconds: Int64

  /// The instant so many microseconds after 1970 began.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// The present instant by this machine's clock.
  public static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  /// The instant `duration` after this one.
  public static func + (instant: Timestamp, duration: Duration) -> Timestamp {
    let (seconds, attoseconds) = duration.components
    let (sum, overflow) = instant.microseconds.addingReportingOverflow(
      seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    )
    // An end of time that somebody has written stays one.
    return Timestamp(microseconds: overflow ? instant.microseconds : sum)
  }

  /// Whether `left` comes before `right`.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microseconds < right.microseconds
  }
}

extension Timestamp: CustomStringConvertible {
  /// RFC 3339 with six decimals: `2026-11-30T10:00:00.000000Z`.
  public var description: String {
    var bytes: [UInt8] = []
    write(into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends `description` as ASCII.
  ///
  /// The date comes from the day number by H. Hinnant's `civil_from_days` (chrono-compatible
  /// low-level date algorithms).
  public func write(into bytes: inout [UInt8]) {
    let (days, inDay) = microseconds.flooredDivision(by: 86_400_000_000)
    let shifted = days + 719_468
    let (era, dayOfEra) = shifted.flooredDivision(by: 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let seconds = inDay / 1_000_000
    for (number, digits, mark) in [
      (year, 4, "-"), (month, 2, "-"), (day, 2, "T"),
      (seconds / 3600, 2, ":"), (seconds / 60 % 60, 2, ":"), (seconds % 60, 2, "."),
      (inDay % 1_000_000, 6, "Z"),
    ] as [(Int64, Int, Unicode.Scalar)] {
      appendDecimal(number, digits: digits, to: &bytes)
      bytes.append(UInt8(ascii: mark))
    }
  }
}

extension Int64 {
  /// Quotient towards minus infinity and the non-negative rest.
  fileprivate func flooredDivision(by divisor: Int64) -> (Int64, Int64) {
    let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
  }
}

private func appendDecimal(_ number: Int64, digits: Int, to bytes: inout [UInt8]) {
  let start = bytes.count
  bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: digits))
  var rest = number.magnitude
  for offset in stride(from: digits - 1, through: 0, by: -1) {
    bytes[start + offset] = UInt8(ascii: "0") + UInt8(rest % 10)
    rest /= 10
  }
}
