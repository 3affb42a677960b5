import EventLog
public import Postgres
public import Profiles

/// A part of all users, by their ids.
public struct UserRange: Sendable {
  /// Events that are looked at for each bound between two ranges.
  static let samplesPerRange: Int64 = 50

  /// The first of them; nil where none is too small.
  public let first: UserID?
  /// The first one behind them; nil where none is too large.
  public let end: UserID?

  /// That `column` is a user of the range; begins with `and`, or is nothing.
  public func condition(_ column: String = "user_id") -> String {
    (first.map { " and \(column) >= '\($0)'" } ?? "")
      + (end.map { " and \(column) < '\($0)'" } ?? "")
  }

  /// Shares all users out into about `count` ranges with as many events each, of a log with `length`
  /// events.
  public static func plan(
    length: Int64,
    count: Int64,
    _ connection: borrowing BlockingConnection
  ) throws -> [UserRange] {
    let count = max(1, min(count, length))
    var parameters = Parameters()
    parameters.add(length)
    parameters.add(count)
    parameters.add(min(length, count * samplesPerRange))
    let rows = try connection.query(
      "\(bounds(length: "$1", count: "$2", samples: "$3")) order by 1 nulls first",
      parameters
    )
    let firsts: [UserID?] = (0..<rows.count).map { row in
      rows.isNull(row, 0) ? nil : rows.identifier(row, 0)
    }
    return firsts.indices.map { index in
      UserRange(
        first: firsts[index],
        end: index + 1 < firsts.count ? firsts[index + 1] : nil
      )
    }
  }

  /// The query that gives the first users of `count` ranges, null for the first one.
  ///
  /// The arguments are SQL. Positions have no hole, so every so manieth event is a fair sample of all.
  static func bounds(length: String, count: String, samples: String) -> String {
    """
    select null::uuid as bound
    union
    select unnest(percentile_disc(
             (select array_agg(b::float8 / \(count)::bigint)
                from generate_series(1, \(count)::bigint - 1) b))
             within group (order by user_id))
      from events
     where position in (select (n * \(length)::bigint) / \(samples)::bigint
                          from generate_series(1, \(samples)::bigint) n)
    """
  }
}
