import EventLog
import Postgres

extension Projection {
  /// Folds events, which come in the order of the log, on top of the rows that `table` has.
  static func fold(
    _ events: some Sequence<RecordedEvent>,
    into table: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    let keyed = events.compactMap { event in key(of: event).map { ($0, event) } }
    let keys = Set(keyed.map(\.0)).sorted()
    guard !keys.isEmpty else { return }
    let stored = try load(keys, from: table, connection)
    var rows: [Key: Row?] = [:]
    for key in keys { rows.updateValue(stored[key], forKey: key) }
    for (key, event) in keyed {
      let row = try apply(event, to: rows[key] ?? nil)
      rows.updateValue(row, forKey: key)
    }
    try write(rows, to: table, connection)
  }
}
