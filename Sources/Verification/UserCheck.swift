import EventLog
import Keys
import Postgres
import Projections
import Synchronization

/// Checks the log user by user: one worker, with a connection for the events and one for the tables.
struct UserCheck: ~Copyable {
  private static let fetchSize = 2_000

  private let log: BlockingConnection
  private let tables: BlockingConnection
  private let keyring: Keyring
  private let findings: Findings

  init(_ snapshot: Snapshot, _ keyring: Keyring, _ findings: Findings) throws {
    // Both or none: a value that can't be copied is never half made.
    let first = try snapshot.open()
    let second = try snapshot.open()
    log = first
    tables = second
    self.keyring = keyring
    self.findings = findings
  }

  /// Checks the users of a range, and gives how many there are; `count` is told of events.
  func run(_ range: UserRange, count: (Int) -> Void) throws -> Int64 {
    try log.script(
      """
      set local cursor_tuple_fraction = 1;
      declare log no scroll cursor for
        select \(UserWalk.columns) from \(RecordedEvent.eventsOfMany)
         where true\(range.condition()) order by \(UserWalk.order)
      """
    )
    var walk = try UserWalk(range, keyring, findings, tables)
    while true {
      let rows = try log.query("fetch forward \(Self.fetchSize) from log")
      guard rows.count > 0 else { break }
      for row in 0..<rows.count { try walk.add(rows, row, tables) }
      count(rows.count)
    }
    try walk.finish(tables)
    try log.script("close log")
    return walk.users
  }
}
