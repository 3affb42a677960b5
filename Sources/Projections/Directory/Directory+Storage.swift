import Clocks
import EventLog
public import Postgres
public import Profiles

extension Directory {
  /// The columns of the table.
  public static let columns = """
    user_id, registered_position, registered_at, email, first_name, last_name, status, words
    """

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

  /// The entries of these users.
  public static func load(
    _ keys: [UserID],
    from table: String,
    _ connection: borrowing BlockingConnection
  ) throws -> [UserID: DirectoryEntry] {
    var parameters = Parameters()
    parameters.add(array: keys) { $0 }
    // The words follow from the rest.
    let rows = try connection.query(
      """
      select user_id, registered_position, registered_at, email, first_name, last_name, status
        from \(table) where user_id = any ($1::uuid[])
      """,
      parameters
    )
    var entries: [UserID: DirectoryEntry] = [:]
    for row in 0..<rows.count {
      let entry = try DirectoryEntry(rows, row, of: table)
      entries[entry.user] = entry
    }
    return entries
  }

  /// Writes and removes entries.
  public static func write(
    _ rows: [UserID: DirectoryEntry?],
    to table: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    let (entries, gone) = RowChanges.split(rows)
    if !gone.isEmpty {
      var parameters = Parameters()
      parameters.add(array: gone) { $0 }
      try connection.query("delete from \(table) where user_id = any ($1::uuid[])", parameters)
    }
    guard !entries.isEmpty else { return }
    var parameters = Parameters()
    parameters.add(array: entries) { $0.user }
    parameters.add(array: entries) { $0.registeredPosition.rawValue }
    parameters.add(array: entries) { $0.registeredAt }
    parameters.add(array: entries) { $0.email }
    parameters.add(array: entries) { $0.firstName }
    parameters.add(array: entries) { $0.lastName }
    parameters.add(array: entries) { $0.status.rawValue }
    parameters.add(array: entries) { TextSearch.vector($0.words) }
    try connection.query(
      """
      insert into \(table) (\(columns))
        select user_id, registered_position, registered_at, email, first_name, last_name, status,
               words::tsvector
          from unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[],
                      $6::text[], $7::smallint[], $8::text[])
               as e (\(columns))
        on conflict (user_id) do update
          set registered_position = excluded.registered_position,
              registered_at = excluded.registered_at, email = excluded.email,
              first_name = excluded.first_name, last_name = excluded.last_name,
              status = excluded.status, words = excluded.words
      """,
      parameters
    )
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
