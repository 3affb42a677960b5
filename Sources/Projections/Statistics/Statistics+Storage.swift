public import Clocks
public import Postgres

extension Statistics {
  /// The columns of the table.
  public static let columns = """
    day, registrations, updates, email_changes, password_changes, suspensions, sign_ins, \
    failed_sign_ins, events
    """

  /// The counters in the order of their columns.
  private static var counters: [WritableKeyPath<DayCounts, Int64>] {
    [
      \.registrations, \.updates, \.emailChanges, \.passwordChanges, \.suspensions, \.signIns,
      \.failedSignIns, \.events,
    ]
  }

  /// Appends the day as a line of `copy`.
  public static func copyLine(of row: DayCounts, into line: inout [UInt8]) {
    line.appendField(row.day.description)
    for counter in counters { line.appendField(row[keyPath: counter].description) }
    line.endLine()
  }

  /// The counts of these days.
  public static func load(
    _ keys: [Day],
    from table: String,
    _ connection: borrowing BlockingConnection
  ) throws -> [Day: DayCounts] {
    var parameters = Parameters()
    parameters.add(array: keys) { $0 }
    let rows = try connection.query(
      "select \(columns) from \(table) where day = any ($1::date[])",
      parameters
    )
    var days: [Day: DayCounts] = [:]
    for row in 0..<rows.count {
      var counts = DayCounts(day: rows.day(row, 0))
      for (index, counter) in counters.enumerated() {
        counts[keyPath: counter] = rows.integer(row, index + 1)
      }
      days[counts.day] = counts
    }
    return days
  }

  /// Writes and removes days.
  public static func write(
    _ rows: [Day: DayCounts?],
    to table: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    let (days, gone) = RowChanges.split(rows)
    if !gone.isEmpty {
      var parameters = Parameters()
      parameters.add(array: gone) { $0 }
      try connection.query("delete from \(table) where day = any ($1::date[])", parameters)
    }
    guard !days.isEmpty else { return }
    var parameters = Parameters()
    parameters.add(array: days) { $0.day }
    for counter in counters { parameters.add(array: days) { $0[keyPath: counter] } }
    try connection.query(
      """
      insert into \(table) (\(columns))
        select \(columns)
          from unnest($1::date[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
                      $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[])
               as e (\(columns))
        on conflict (day) do update
          set registrations = excluded.registrations, updates = excluded.updates,
              email_changes = excluded.email_changes,
              password_changes = excluded.password_changes,
              suspensions = excluded.suspensions, sign_ins = excluded.sign_ins,
              failed_sign_ins = excluded.failed_sign_ins, events = excluded.events
      """,
      parameters
    )
  }
}
