public import EventLog
public import Keys
import Postgres
public import Profiles

/// Holds `current_users` against a fresh fold of the log, row by row, in one snapshot.
public struct CurrentUsersVerify: ~Copyable {
  /// What was found.
  public struct Report: Sendable {
    /// The last event of the snapshot.
    public let position: Position
    /// Users compared.
    public let users: Int64
    /// Users whose row differs from the fold, is missing, or has no events; the first hundred.
    public let different: [UserID]
    /// How many there are.
    public let differences: Int64
  }

  /// Differences that are named.
  private static let namedLimit = 100
  private static let fetchSize = 5_000

  private let log: BlockingConnection
  private let table: BlockingConnection
  private let keyring: Keyring
  private let progress: (_ done: Int64, _ total: Int64) -> Void

  /// A check with two connections to `target`; `progress` counts events.
  public init(
    target: String,
    keyring: Keyring,
    progress: @escaping (_ done: Int64, _ total: Int64) -> Void
  ) throws {
    // Both or none: a value that can't be copied is never half made.
    let first = try BlockingConnection(target: target, applicationName: "jejak verify")
    let second = try BlockingConnection(target: target, applicationName: "jejak verify")
    log = first
    table = second
    self.keyring = keyring
    self.progress = progress
  }

  /// Compares.
  public func run() throws -> Report {
    try log.transaction("begin isolation level repeatable read read only") {
      let snapshot = try log.query(
        "select pg_export_snapshot(), (select coalesce(max(position), 0) from events)"
      )
      let total: Int64 = snapshot.integer(0, 1)
      return try table.transaction("begin isolation level repeatable read read only") {
        try table.script("set transaction snapshot '\(snapshot.string(0, 0) ?? "")'")
        return try compare(total)
      }
    }
  }

  private func compare(_ total: Int64) throws -> Report {
    try log.script(
      """
      set local cursor_tuple_fraction = 1;
      declare log no scroll cursor for
        select \(RecordedEvent.columns) from events order by \(KeyFold<CurrentUsers>.order)
      """
    )
    var live = try TableCursor(table, fetchSize: Self.fetchSize)
    var users: Int64 = 0
    var differences: Int64 = 0
    var different: [UserID] = []
    func note(_ user: UserID) {
      differences += 1
      if different.count < Self.namedLimit { different.append(user) }
    }
    func check(_ row: CurrentUserRow) throws {
      users += 1
      while let id = live.user, id < row.user.id {
        note(id)
        try live.advance(table)
      }
      guard live.user == row.user.id else { return note(row.user.id) }
      if !live.equals(row) { note(row.user.id) }
      try live.advance(table)
    }
    var fold = KeyFold<CurrentUsers>(keyring)
    var done: Int64 = 0
    while true {
      let rows = try log.query("fetch forward \(Self.fetchSize) from log")
      guard rows.count > 0 else { break }
      try fold.add(rows, check)
      done += Int64(rows.count)
      progress(done, total)
    }
    try fold.finish(check)
    while let id = live.user {
      note(id)
      try live.advance(table)
    }
    return Report(
      position: Position(total),
      users: users,
      different: different,
      differences: differences
    )
  }
}

/// The rows of the table in the order of their users.
private struct TableCursor {
  private let fetchSize: Int
  private var rows: Rows
  private var index = 0

  init(_ connection: borrowing BlockingConnection, fetchSize: Int) throws {
    self.fetchSize = fetchSize
    try connection.script(
      """
      set local cursor_tuple_fraction = 1;
      declare live no scroll cursor for
        select \(CurrentUsers.columns) from current_users order by user_id
      """
    )
    rows = try connection.query("fetch forward \(fetchSize) from live")
  }

  /// The user of the present row; nil after the last.
  var user: UserID? { index < rows.count ? rows.identifier(index, 0) : nil }

  func equals(_ row: CurrentUserRow) -> Bool { row.equals(rows, index) }

  mutating func advance(_ connection: borrowing BlockingConnection) throws {
    index += 1
    guard index == rows.count else { return }
    rows = try connection.query("fetch forward \(fetchSize) from live")
    index = 0
  }
}
