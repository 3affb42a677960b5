import Clocks
public import EventLog
import EventLoop
import Postgres
import Profiles

/// Builds `current_users` anew from the log while the service goes on.
///
/// A snapshot of the log is folded into a shadow table; what has been appended since is folded in
/// rounds; then, while nothing can be appended, the last of it, and the tables are exchanged in
/// that same transaction. A rebuild that is killed leaves the live table as it was, and a shadow
/// that the next one drops.
public struct CurrentUsersRebuild: ~Copyable {
  /// What a rebuild has done.
  public struct Report: Sendable {
    /// The last event that the new table holds.
    public let position: Position
    /// Events folded.
    public let events: Int64
    /// Rows of the new table.
    public let users: Int64
    /// The whole time.
    public let duration: Duration
    /// How long appends and fetches had to wait at the exchange.
    public let pause: Duration
  }

  /// Events that may be left for the exchange, while everyone waits.
  private static let finalRoundLimit: Int64 = 2_000
  /// Rounds after which the exchange is made, however much is left.
  private static let roundLimit = 20
  /// The longest wait for the table's lock, during which fetches and appends wait too.
  private static let lockPatience = "200ms"
  /// Tries to have the table's lock, a second apart.
  private static let lockAttempts = 600
  /// Events read at a time.
  private static let fetchSize = 5_000

  private let reader: BlockingConnection
  private let writer: BlockingConnection
  private let progress: (_ done: Int64, _ total: Int64) -> Void

  /// A rebuild as the owner that `target` connects as; `progress` counts events.
  public init(
    target: String,
    progress: @escaping (_ done: Int64, _ total: Int64) -> Void
  ) throws {
    // Both or none: a value that can't be copied is never half made.
    let first = try BlockingConnection(target: target, applicationName: "jejak rebuild")
    let second = try BlockingConnection(target: target, applicationName: "jejak rebuild")
    reader = first
    writer = second
    self.progress = progress
  }

  /// Rebuilds the table.
  public func run() throws -> Report {
    let begin = Instant.now()
    let lock = try writer.query(
      "select pg_try_advisory_lock(hashtext('jejak rebuild current_users ' || current_schema()))"
    )
    guard lock.bool(0, 0) else { throw ProjectionError.busy("current_users") }
    try writer.script(
      """
      drop table if exists current_users_rebuild;
      create table current_users_rebuild (like current_users including storage)
        with (fillfactor = 70);
      grant select, insert, update on current_users_rebuild to jejak_service;
      """
    )
    var (position, events) = try foldSnapshot()
    try writer.script(
      "alter table current_users_rebuild add constraint current_users_rebuild_pkey "
        + "primary key (user_id); analyze current_users_rebuild"
    )
    var rounds = 0
    while try head() - position.rawValue > Self.finalRoundLimit && rounds < Self.roundLimit {
      let (reached, count) = try catchUp(from: position)
      (position, events, rounds) = (reached, events + count, rounds + 1)
    }
    let (pause, last, count, users) = try exchangeSoon(from: &position, &events)
    return Report(
      position: last,
      events: events + count,
      users: users,
      duration: Instant.now() - begin,
      pause: pause
    )
  }

  private func head() throws -> Int64 {
    try writer.query("select coalesce(max(position), 0) from events").integer(0, 0)
  }

  /// Folds all events that are committed now into the empty shadow table.
  private func foldSnapshot() throws -> (Position, Int64) {
    try reader.transaction("begin isolation level repeatable read read only") {
      let facts = try reader.query("select coalesce(max(position), 0) from events")
      let total: Int64 = facts.integer(0, 0)
      try reader.script(
        """
        set local cursor_tuple_fraction = 1;
        declare log no scroll cursor for
          select \(RecordedEvent.columns) from events order by \(UserFold.order)
        """
      )
      var fold = UserFold()
      var done: Int64 = 0
      var ended = false
      try writer.copyIn(
        "copy current_users_rebuild (\(CurrentUserRow.columns)) from stdin"
      ) { () throws -> [UInt8]? in
        guard !ended else { return nil }
        var chunk: [UInt8] = []
        let rows = try reader.query("fetch forward \(Self.fetchSize) from log")
        try fold.add(rows) { chunk += $0.copyLine }
        if rows.count == 0 {
          try fold.finish { chunk += $0.copyLine }
          ended = true
        }
        done += Int64(rows.count)
        progress(done, total)
        return chunk
      }
      return (Position(total), done)
    }
  }

  /// Folds anew the users who have events after `position`.
  private func catchUp(from position: Position) throws -> (Position, Int64) {
    let reached = Position(try head())
    var parameters = Parameters()
    parameters.add(position.rawValue)
    parameters.add(reached.rawValue)
    let changed = try writer.query(
      "select distinct user_id from events where position > $1::bigint and position <= $2::bigint",
      parameters
    )
    var users = Parameters()
    users.add(array: 0..<changed.count) { changed.identifier($0, 0, as: UserID.self) }
    users.add(reached.rawValue)
    let events = try writer.query(
      """
      select \(RecordedEvent.columns) from events
       where user_id = any ($1::uuid[]) and position <= $2::bigint order by \(UserFold.order)
      """,
      users
    )
    var lines: [UInt8] = []
    var fold = UserFold()
    try fold.add(events) { lines += $0.copyLine }
    try fold.finish { lines += $0.copyLine }
    var remove = Parameters()
    remove.add(array: 0..<changed.count) { changed.identifier($0, 0, as: UserID.self) }
    try writer.query(
      "delete from current_users_rebuild where user_id = any ($1::uuid[])",
      remove
    )
    var rest: [UInt8]? = lines
    try writer.copyIn("copy current_users_rebuild (\(CurrentUserRow.columns)) from stdin") {
      rest.take()
    }
    return (reached, reached.rawValue - position.rawValue)
  }

  /// Makes the exchange as soon as no long reader of the table stands in its way.
  private func exchangeSoon(
    from position: inout Position,
    _ events: inout Int64
  ) throws -> (pause: Duration, Position, events: Int64, users: Int64) {
    for _ in 1..<Self.lockAttempts {
      do {
        return try exchange(from: position)
      } catch let failure as BlockingConnection.Failure where failure.sqlState == "55P03" {
        try writer.script("select pg_sleep(1)")
        let (reached, count) = try catchUp(from: position)
        (position, events) = (reached, events + count)
      }
    }
    return try exchange(from: position)
  }

  /// Folds the last events and exchanges the tables while nothing is read or appended.
  ///
  /// The table's lock comes before that of `log_head`: an append takes them in that order too.
  private func exchange(
    from position: Position
  ) throws -> (pause: Duration, Position, events: Int64, users: Int64) {
    var begin = Instant.now()
    let (last, count) = try writer.transaction { () throws -> (Position, Int64) in
      try writer.script("set local lock_timeout = '\(Self.lockPatience)'")
      begin = Instant.now()
      try writer.script("lock table current_users in access exclusive mode")
      try writer.script("set local lock_timeout = 0")
      try writer.script("select 1 from log_head for update")
      let result = try catchUp(from: position)
      try writer.script(
        """
        drop table current_users;
        alter table current_users_rebuild rename to current_users;
        alter table current_users rename constraint current_users_rebuild_pkey
          to current_users_pkey;
        """
      )
      return result
    }
    let pause = Instant.now() - begin
    let users = try writer.query("select count(*) from current_users")
    return (pause, last, count, users.integer(0, 0))
  }
}
