import CLinux
import Glibc

/// Instants as RFC 3339 text, in UTC with microseconds.
enum Timestamp {
  static func now() -> String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return text(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
  }

  static func text(seconds: Int, nanoseconds: Int) -> String {
    var seconds = seconds
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
    let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int($0), 2) }
    return padded(date[0], 4) + "-" + padded(date[1], 2) + "-" + padded(date[2], 2) + "T"
      + clock.joined(separator: ":") + "." + padded(nanoseconds / 1000, 6) + "Z"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
