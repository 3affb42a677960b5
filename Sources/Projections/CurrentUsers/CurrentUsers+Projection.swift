import Clocks
public import EventLog
public import Postgres
public import Profiles

/// `current_users`: the state that commands are decided on and fetches are answered with.
public enum CurrentUsers: TableProjection {
  /// The table.
  public static let name = "current_users"
  /// The definition's number.
  public static let revision: Int32 = 1
  /// In the transaction of each event.
  public static let mode = ProjectionMode.inline
  /// A row depends on its user's events alone.
  public static let partitioning = Partitioning.byUser
  /// The columns of the table.
  public static let storedColumns = [
    StoredColumn("user_id", "uuid"), StoredColumn("created_at", "timestamptz"),
    StoredColumn("updated_at", "timestamptz"), StoredColumn("version", "integer"),
    StoredColumn("access_version", "integer"), StoredColumn("status", "smallint"),
    StoredColumn("document", "bytea"),
  ]

  /// The user.
  public static func key(of event: RecordedEvent) -> UserID? { event.user }

  /// The row after `event`; see `CurrentUserRow.apply`.
  public static func apply(
    _ event: RecordedEvent,
    to row: CurrentUserRow?
  ) throws(ProjectionError) -> CurrentUserRow? {
    try CurrentUserRow.apply(event, to: row)
  }

  /// Appends the row as a line of `copy`.
  public static func copyLine(of row: CurrentUserRow, into line: inout [UInt8]) {
    line += row.copyLine
  }

  /// The user.
  public static func key(of row: CurrentUserRow) -> UserID { row.user.id }

  /// The rows, column by column.
  public static func parameters(of rows: [CurrentUserRow]) -> Parameters {
    var parameters = Parameters()
    parameters.add(array: rows) { $0.user.id }
    parameters.add(array: rows) { $0.createdAt }
    parameters.add(array: rows) { $0.updatedAt }
    parameters.add(array: rows) { $0.user.version.rawValue }
    parameters.add(array: rows) { $0.user.accessVersion.rawValue }
    parameters.add(array: rows) { $0.user.status.rawValue }
    parameters.add(array: rows) { $0.user.document }
    return parameters
  }

  /// The user in a row of the table.
  public static func read(
    _ rows: Rows,
    _ row: Int,
    of table: String
  ) throws(ProjectionError) -> CurrentUserRow {
    try CurrentUserRow(rows, row, of: table)
  }
}
