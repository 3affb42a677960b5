import EventLog
import Postgres
import Profiles

/// A part of the log that one transaction folds.
struct RebuildRange: Sendable {
  /// Events in a range, about: what a kill loses is this, times the workers.
  private static let eventsAimedAt: Int64 = 50_000
  /// Under a throttle a range, whose events the server sorts in one go, has those of half a second,
  /// but no fewer than this.
  private static let fewestEventsAimedAt: Int64 = 1_000
  /// Ranges for each worker, so that all end at about the same time.
  private static let rangesPerWorker: Int64 = 4
  /// The most ranges of one rebuild.
  private static let limit: Int64 = 10_000

  let number: Int32
  var firstUser: UserID?
  var endUser: UserID?
  var firstPosition: Int64?
  var lastPosition: Int64?

  /// Events of the log up to `snapshot` that are in the range, as a condition.
  func condition(upTo snapshot: Int64) -> String {
    if let firstPosition, let lastPosition {
      return "position >= \(firstPosition) and position <= \(lastPosition)"
    }
    return "position <= \(snapshot)" + userCondition("user_id")
  }

  /// That `column` is a user of the range; begins with `and`, or is nothing.
  func userCondition(_ column: String) -> String {
    UserRange(first: firstUser, end: endUser).condition(column)
  }

  /// Lays out the ranges of the log up to `snapshot`, and saves them.
  static func plan(
    _ partitioning: Partitioning,
    for id: RebuildID,
    upTo snapshot: Int64,
    workers: Int32,
    throttle: Int32?,
    _ connection: borrowing BlockingConnection
  ) throws {
    guard snapshot > 0 else { return }
    let events = throttle.map { rate in
      max(fewestEventsAimedAt, min(eventsAimedAt, Int64(rate) / 2))
    }
    let wanted = max(
      snapshot / (events ?? eventsAimedAt),
      Int64(workers) * rangesPerWorker
    )
    let count = max(1, min(wanted, limit, snapshot))
    var parameters = Parameters()
    parameters.add(id)
    parameters.add(snapshot)
    parameters.add(count)
    switch partitioning {
    case .byEvent, .inSequence:
      try connection.query(
        """
        insert into rebuild_ranges (rebuild_id, number, first_position, last_position)
          select $1::uuid, n, (n - 1) * $2::bigint / $3::bigint + 1, n * $2::bigint / $3::bigint
            from generate_series(1, $3::bigint) n
        """,
        parameters
      )
    case .byUser:
      parameters.add(min(snapshot, count * UserRange.samplesPerRange))
      try connection.query(
        """
        insert into rebuild_ranges (rebuild_id, number, first_user, end_user)
          select $1::uuid, row_number() over (order by bound nulls first), bound,
                 lead(bound) over (order by bound nulls first)
            from (\(UserRange.bounds(length: "$2", count: "$3", samples: "$4"))) bounds
        """,
        parameters
      )
    }
  }

  /// Neighbours among ranges of users joined, so that about as many are left as a rebuild by so many
  /// workers has at the least: who looks at the end of the log for each of them looks at it seldom.
  static func joined(_ ranges: [RebuildRange], into workers: Int) -> [RebuildRange] {
    let size = max(1, ranges.count / (workers * Int(rangesPerWorker)))
    return stride(from: 0, to: ranges.count, by: size).map { first in
      var range = ranges[first]
      range.endUser = ranges[min(first + size, ranges.count) - 1].endUser
      return range
    }
  }

  /// The ranges of a rebuild in their order; with `isDone`, those that are done or not.
  static func list(
    of id: RebuildID,
    isDone: Bool? = nil,
    _ connection: borrowing BlockingConnection
  ) throws -> [RebuildRange] {
    var parameters = Parameters()
    parameters.add(id)
    parameters.add(isDone)
    let rows = try connection.query(
      """
      select number, first_user, end_user, first_position, last_position
        from rebuild_ranges
       where rebuild_id = $1::uuid and ($2::boolean is null or done = $2::boolean)
       order by number
      """,
      parameters
    )
    return (0..<rows.count).map { row in
      RebuildRange(
        number: rows.integer(row, 0),
        firstUser: rows.isNull(row, 1) ? nil : rows.identifier(row, 1),
        endUser: rows.isNull(row, 2) ? nil : rows.identifier(row, 2),
        firstPosition: rows.isNull(row, 3) ? nil : rows.integer(row, 3),
        lastPosition: rows.isNull(row, 4) ? nil : rows.integer(row, 4)
      )
    }
  }
}
