import Clocks
import EventLog
public import Postgres
public import Profiles

extension Directory {
  /// The columns of the table.
  public static let storedColumns = [
    StoredColumn("user_id", "uuid"), StoredColumn("registered_position", "bigint"),
    StoredColumn("registered_at", "timestamptz"), StoredColumn("email", "text"),
    StoredColumn("first_name", "text"), StoredColumn("last_name", "text"),
    StoredColumn("status", "smallint"), StoredColumn("words", "tsvector", sentAs: "text"),
  ]

  /// Appends the entry as a line of `copy`.
  public static func copyLine(of row: DirectoryEntry, into line: inout [UInt8]) {
    line.appendField(row.user.description)
    line.appendField(row.registeredPosition.description)
    line.appendField(row.registeredAt.description)
    line.appendField(row.email)
    line.appendField(orNull: row.firstName)
    line.appendField(orNull: row.lastName)
    line.appendField(row.status.rawValue.description)
    line.appendField(TextSearch.vector(row.words))
    line.endLine()
  }

  /// The user.
  public static func key(of row: DirectoryEntry) -> UserID { row.user }

  /// The entries, column by column.
  public static func parameters(of rows: [DirectoryEntry]) -> Parameters {
    var parameters = Parameters()
    parameters.add(array: rows) { $0.user }
    parameters.add(array: rows) { $0.registeredPosition }
    parameters.add(array: rows) { $0.registeredAt }
    parameters.add(array: rows) { $0.email }
    parameters.add(array: rows) { $0.firstName }
    parameters.add(array: rows) { $0.lastName }
    parameters.add(array: rows) { $0.status.rawValue }
    parameters.add(array: rows) { TextSearch.vector($0.words) }
    return parameters
  }

  /// The entry in a row of the table; its words follow from the rest.
  public static func read(
    _ rows: Rows,
    _ row: Int,
    of table: String
  ) throws(ProjectionError) -> DirectoryEntry {
    try DirectoryEntry(rows, row, of: table)
  }
}

extension DirectoryEntry {
  /// The entry in row `row` of the table, but for its words.
  init(_ rows: Rows, _ row: Int, of table: String) throws(ProjectionError) {
    let number: Int16 = rows.integer(row, 6)
    user = rows.identifier(row, 0)
    guard let status = User.Status(rawValue: number) else {
      throw .unreadableRow(table: table, reason: "user \(user) has the status \(number)")
    }
    registeredPosition = Position(rows.integer(row, 1))
    registeredAt = rows.timestamp(row, 2)
    email = rows.string(row, 3) ?? ""
    firstName = rows.string(row, 4)
    lastName = rows.string(row, 5)
    self.status = status
  }
}
