import Clocks
public import EventLog
public import Postgres
import Profiles

extension AuditEntries {
  /// The columns of the table.
  public static let columns = """
    position, recorded_at, user_id, actor_id, version, stream, actor_kind, type, fields
    """

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

  /// The entries at these positions.
  public static func load(
    _ keys: [Position],
    from table: String,
    _ connection: borrowing BlockingConnection
  ) throws -> [Position: AuditEntry] {
    var parameters = Parameters()
    parameters.add(array: keys) { $0.rawValue }
    let rows = try connection.query(
      "select \(columns) from \(table) where position = any ($1::bigint[])",
      parameters
    )
    var entries: [Position: AuditEntry] = [:]
    for row in 0..<rows.count {
      let entry = AuditEntry(rows, row)
      entries[entry.position] = entry
    }
    return entries
  }

  /// Writes and removes entries.
  public static func write(
    _ rows: [Position: AuditEntry?],
    to table: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    let (entries, gone) = RowChanges.split(rows)
    if !gone.isEmpty {
      var parameters = Parameters()
      parameters.add(array: gone) { $0.rawValue }
      try connection.query(
        "delete from \(table) where position = any ($1::bigint[])",
        parameters
      )
    }
    guard !entries.isEmpty else { return }
    var parameters = Parameters()
    parameters.add(array: entries) { $0.position.rawValue }
    parameters.add(array: entries) { $0.recordedAt }
    parameters.add(array: entries) { $0.user }
    parameters.add(array: entries) { $0.actor.id }
    parameters.add(array: entries) { $0.version.rawValue }
    parameters.add(array: entries) { $0.stream }
    parameters.add(array: entries) { $0.actor.kind }
    parameters.add(array: entries) { $0.type }
    parameters.add(array: entries) { TextArray.literal($0.fields) }
    try connection.query(
      """
      insert into \(table) (\(columns))
        select position, recorded_at, user_id, actor_id, version, stream, actor_kind, type,
               fields::text[]
          from unnest($1::bigint[], $2::timestamptz[], $3::uuid[], $4::uuid[], $5::integer[],
                      $6::smallint[], $7::smallint[], $8::text[], $9::text[])
               as e (\(columns))
        on conflict (position) do update
          set recorded_at = excluded.recorded_at, user_id = excluded.user_id,
              actor_id = excluded.actor_id, version = excluded.version, stream = excluded.stream,
              actor_kind = excluded.actor_kind, type = excluded.type, fields = excluded.fields
      """,
      parameters
    )
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
