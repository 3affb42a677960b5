public import Clocks
import EventLog
import Postgres

/// What happened on one day, counted, as operators are told.
public struct DayStatistics: Sendable {
  /// The day, UTC.
  public let day: Day
  /// The counters by their names in answers.
  public let counts: KeyValuePairs<String, Int64>
}

extension Accounts {
  /// Days that one question may be about, at most.
  public static let statisticsLimit: Int32 = 366

  /// The days of `days` on which anything happened, in order; the counts follow the log.
  public func statistics(
    of days: ClosedRange<Day>
  ) async throws(AccountsError) -> [DayStatistics] {
    var parameters = Parameters()
    parameters.add(days.lowerBound)
    parameters.add(days.upperBound)
    let rows = try await read(SQL.statistics, parameters)
    return (0..<rows.count).map { row in
      DayStatistics(
        day: rows.day(row, 0),
        counts: [
          "registrations": rows.integer(row, 1), "updates": rows.integer(row, 2),
          "emailChanges": rows.integer(row, 3), "passwordChanges": rows.integer(row, 4),
          "suspensions": rows.integer(row, 5), "erasures": rows.integer(row, 9),
          "signIns": rows.integer(row, 6), "failedSignIns": rows.integer(row, 7),
          "events": rows.integer(row, 8),
        ]
      )
    }
  }
}

extension SQL {
  static let statistics = Statement(
    "statistics",
    """
    select day, registrations, updates, email_changes, password_changes, suspensions, sign_ins,
           failed_sign_ins, events, erasures
      from statistics where day between $1::date and $2::date order by day
    """
  )
}
