public import Clocks
import EventLog
public import Postgres

extension Statistics {
  /// The columns of the table.
  public static let storedColumns =
    [StoredColumn("day", "date")]
    + [
      "registrations", "updates", "email_changes", "password_changes", "suspensions", "sign_ins",
      "failed_sign_ins", "events", "erasures",
    ].map { StoredColumn($0, "bigint") }

  /// The counters in the order of their columns.
  private static var counters: [WritableKeyPath<DayCounts, Int64>] {
    [
      \.registrations, \.updates, \.emailChanges, \.passwordChanges, \.suspensions, \.signIns,
      \.failedSignIns, \.events, \.erasures,
    ]
  }

  /// Appends the day as a line of `copy`.
  public static func copyLine(of row: DayCounts, into line: inout [UInt8]) {
    line.appendField(row.day.description)
    for counter in counters { line.appendField(row[keyPath: counter].description) }
    line.endLine()
  }

  /// The day.
  public static func key(of row: DayCounts) -> Day { row.day }

  /// Days and counters.
  public static func parameters(of rows: [DayCounts]) -> Parameters {
    var parameters = Parameters()
    parameters.add(array: rows) { $0.day }
    for counter in counters { parameters.add(array: rows) { $0[keyPath: counter] } }
    return parameters
  }

  /// The counts in a row of the table.
  public static func read(
    _ rows: Rows,
    _ row: Int,
    of table: String
  ) throws(ProjectionError) -> DayCounts {
    var counts = DayCounts(day: rows.day(row, 0))
    for (index, counter) in counters.enumerated() {
      let count: Int64 = rows.integer(row, index + 1)
      guard Position(count).isPossible else {
        throw .unreadableRow(table: table, reason: "\(count) is no number of events")
      }
      counts[keyPath: counter] = count
    }
    return counts
  }
}
