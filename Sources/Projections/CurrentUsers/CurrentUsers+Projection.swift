import Clocks
public import EventLog
public import Postgres
public import Profiles

/// `current_users`: the state that commands are decided on and fetches are answered with.
public enum CurrentUsers: Projection {
  /// The table.
  public static let name = "current_users"
  /// The definition's number.
  public static let revision: Int32 = 1
  /// In the transaction of each event.
  public static let mode = ProjectionMode.inline
  /// A row depends on its user's events alone.
  public static let partitioning = Partitioning.byUser
  /// The columns of the table.
  public static let columns = CurrentUserRow.columns

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

  /// The rows of these users.
  public static func load(
    _ keys: [UserID],
    from table: String,
    _ connection: borrowing BlockingConnection
  ) throws -> [UserID: CurrentUserRow] {
    var parameters = Parameters()
    parameters.add(array: keys) { $0 }
    let rows = try connection.query(
      "select \(columns) from \(table) where user_id = any ($1::uuid[])",
      parameters
    )
    var found: [UserID: CurrentUserRow] = [:]
    for row in 0..<rows.count {
      let user = try CurrentUserRow(rows, row, of: table)
      found[user.user.id] = user
    }
    return found
  }

  /// Writes and removes rows.
  public static func write(
    _ rows: [UserID: CurrentUserRow?],
    to table: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    let (users, gone) = RowChanges.split(rows)
    if !gone.isEmpty {
      var parameters = Parameters()
      parameters.add(array: gone) { $0 }
      try connection.query("delete from \(table) where user_id = any ($1::uuid[])", parameters)
    }
    guard !users.isEmpty else { return }
    var parameters = Parameters()
    parameters.add(array: users) { $0.user.id }
    parameters.add(array: users) { $0.createdAt }
    parameters.add(array: users) { $0.updatedAt }
    parameters.add(array: users) { $0.user.version.rawValue }
    parameters.add(array: users) { $0.user.accessVersion.rawValue }
    parameters.add(array: users) { $0.user.status.rawValue }
    parameters.add(array: users) { $0.user.document }
    try connection.query(
      """
      insert into \(table) (\(columns))
        select \(columns)
          from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::integer[],
                      $5::integer[], $6::smallint[], $7::bytea[])
               as e (\(columns))
        on conflict (user_id) do update
          set created_at = excluded.created_at, updated_at = excluded.updated_at,
              version = excluded.version, access_version = excluded.access_version,
              status = excluded.status, document = excluded.document
      """,
      parameters
    )
  }
}
