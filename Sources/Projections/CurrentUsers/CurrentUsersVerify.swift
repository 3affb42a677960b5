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
        select \(RecordedEvent.columns) from events order by \(CurrentUsersFold.order)
      """
    )
    var comparison = try CurrentUsersComparison(nil, table)
    var users: Int64 = 0
    var differences: Int64 = 0
    var different: [UserID] = []
    func note(_ user: UserID, _: CurrentUsersComparison.Difference) {
      differences += 1
      if different.count < Self.namedLimit { different.append(user) }
    }
    func check(_ row: CurrentUserRow) throws {
      users += 1
      try comparison.compare(row, table, note)
    }
    var fold = CurrentUsersFold(keyring)
    var reader = EventReader(keyring)
    var done: Int64 = 0
    while true {
      let rows = try log.query("fetch forward \(Self.fetchSize) from log")
      guard rows.count > 0 else { break }
      for index in 0..<rows.count { try fold.add(reader.event(rows, index), check) }
      done += Int64(rows.count)
      progress(done, total)
    }
    if let last = try fold.finish() { try check(last) }
    try comparison.finish(table, note)
    return Report(
      position: Position(total),
      users: users,
      different: different,
      differences: differences
    )
  }
}
