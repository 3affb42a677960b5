extension Timestamp: LosslessStringConvertible {
  /// Reads an instant of RFC 3339, such as `2026-11-30T10:00:00.5+01:00`, in the years 1 to 9999.
  ///
  /// Digits behind the microseconds, nine at most, are cut off. A leap second is none.
  public init?(_ text: String) {
    var reader = DigitReader(rest: Array(text.utf8)[...])
    guard let date = reader.date(), reader.skip("T", "t"), let hour = reader.number(2, 0...23),
      reader.skip(":"), let minute = reader.number(2, 0...59), reader.skip(":"),
      let second = reader.number(2, 0...59), let fraction = reader.fraction(),
      let offset = reader.offset(), reader.rest.isEmpty
    else { return nil }
    let seconds = date * 86_400 + hour * 3600 + minute * 60 + second - offset * 60
    self.init(microseconds: seconds * 1_000_000 + fraction)
  }

  /// Reads a day, `YYYY-MM-DD`: the instant at which it begins in UTC.
  public init?(startOfDay text: String) {
    var reader = DigitReader(rest: Array(text.utf8)[...])
    guard let date = reader.date(), reader.rest.isEmpty else { return nil }
    self.init(microseconds: date * 86_400_000_000)
  }
}

/// Takes numbers of fixed length off the front of a text.
private struct DigitReader {
  var rest: ArraySlice<UInt8>

  mutating func number(_ length: Int, _ range: ClosedRange<Int64>) -> Int64? {
    guard rest.count >= length else { return nil }
    var number: Int64 = 0
    for digit in rest.prefix(length) {
      guard (0x30...0x39).contains(digit) else { return nil }
      number = number * 10 + Int64(digit - 0x30)
    }
    rest = rest.dropFirst(length)
    return range.contains(number) ? number : nil
  }

  mutating func skip(_ marks: Unicode.Scalar...) -> Bool {
    guard let first = rest.first, marks.contains(where: { UInt8(ascii: $0) == first }) else {
      return false
    }
    rest = rest.dropFirst()
    return true
  }

  /// Days since 1970.
  mutating func date() -> Int64? {
    guard let year = number(4, 1...9999), skip("-"), let month = number(2, 1...12), skip("-"),
      let day = number(2, 1...daysOfMonth(month, year))
    else { return nil }
    return daysSince1970(year, month, day)
  }

  /// Microseconds; zero where there is no fraction.
  mutating func fraction() -> Int64? {
    guard skip(".") else { return 0 }
    let digits = rest.prefix { (0x30...0x39).contains($0) }
    guard (1...9).contains(digits.count) else { return nil }
    rest = rest.dropFirst(digits.count)
    return (0..<6).reduce(0) { sum, place in
      sum * 10 + (place < digits.count ? Int64(digits[digits.startIndex + place] - 0x30) : 0)
    }
  }

  /// Minutes that the local time is before UTC.
  mutating func offset() -> Int64? {
    if skip("Z", "z") { return 0 }
    let isEast = rest.first == UInt8(ascii: "+")
    guard skip("+", "-"), let hours = number(2, 0...23), skip(":"),
      let minutes = number(2, 0...59)
    else { return nil }
    return (isEast ? 1 : -1) * (hours * 60 + minutes)
  }
}

private func daysOfMonth(_ month: Int64, _ year: Int64) -> Int64 {
  switch month {
  case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
  case 4, 6, 9, 11: 30
  default: 31
  }
}

/// The days from 1970 to a date of a year from 1 on.
///
/// The algorithm is Howard Hinnant's `days_from_civil`.
private func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
  let shifted = month <= 2 ? year - 1 : year
  let era = shifted / 400
  let yearOfEra = shifted - era * 400
  let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}
