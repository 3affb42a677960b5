import Clocks
public import EventLog
public import Postgres
import Profiles

extension AuditEntries {
  /// The columns of the table.
  public static let storedColumns = [
    StoredColumn("position", "bigint"), StoredColumn("recorded_at", "timestamptz"),
    StoredColumn("user_id", "uuid"), StoredColumn("actor_id", "uuid"),
    StoredColumn("version", "integer"), StoredColumn("stream", "smallint"),
    StoredColumn("actor_kind", "smallint"), StoredColumn("type", "text"),
    StoredColumn("fields", "text[]", sentAs: "text"),
  ]

  /// Appends the entry as a line of `copy`.
  public static func copyLine(of row: AuditEntry, into line: inout [UInt8]) {
    line.appendField(row.position.description)
    line.appendField(row.recordedAt.description)
    line.appendField(row.user.description)
    line.appendField(orNull: row.actor.id?.description)
    line.appendField(row.version.description)
    line.appendField(row.stream.description)
    line.appendField(row.actor.kind.description)
    line.appendField(row.type)
    line.appendField(TextArray.literal(row.fields))
    line.endLine()
  }

  /// The position.
  public static func key(of row: AuditEntry) -> Position { row.position }

  /// The entries, column by column.
  public static func parameters(of rows: [AuditEntry]) -> Parameters {
    var parameters = Parameters()
    parameters.add(array: rows) { $0.position }
    parameters.add(array: rows) { $0.recordedAt }
    parameters.add(array: rows) { $0.user }
    parameters.add(array: rows) { $0.actor.id }
    parameters.add(array: rows) { $0.version.rawValue }
    parameters.add(array: rows) { $0.stream }
    parameters.add(array: rows) { $0.actor.kind }
    parameters.add(array: rows) { $0.type }
    parameters.add(array: rows) { TextArray.literal($0.fields) }
    return parameters
  }

  /// The entry in a row of the table.
  public static func read(
    _ rows: Rows,
    _ row: Int,
    of table: String
  ) throws(ProjectionError) -> AuditEntry {
    AuditEntry(rows, row)
  }
}

extension AuditEntry {
  /// The entry in row `row`, read as `AuditEntries.columns`.
  init(_ rows: Rows, _ row: Int) {
    position = Position(rows.integer(row, 0))
    recordedAt = rows.timestamp(row, 1)
    user = rows.identifier(row, 2)
    actor = Actor(
      kind: rows.integer(row, 6),
      id: rows.isNull(row, 3) ? nil : rows.identifier(row, 3)
    )
    version = Version(rows.integer(row, 4))
    stream = rows.integer(row, 5)
    type = rows.string(row, 7) ?? ""
    fields = rows.strings(row, 8)
  }
}
