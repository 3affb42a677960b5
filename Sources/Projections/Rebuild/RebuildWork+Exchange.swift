import Clocks
import EventLog
import EventLoop
import Postgres

extension RebuildWork {
  /// Tries to have the table's lock, half a second apart.
  private static var lockAttempts: Int { 1_200 }
  private static var lockPause: Duration { .milliseconds(500) }

  /// Makes the exchange as soon as no long reader of the table stands in its way.
  mutating func exchange() throws {
    // Verifying took its time.
    try catchUp()
    try enter(.exchanging)
    try call("drop_projection_table", P.name, "dropped")
    var attempt = 1
    while true {
      do {
        try exchangeNow()
        break
      } catch let failure as BlockingConnection.Failure
        where failure.sqlState == "55P03" && attempt < Self.lockAttempts
      {
        attempt += 1
        try control.wait(Self.lockPause)
        try catchUp()
        try enter(.exchanging)
      }
    }
    control.enter(.done)
    try reload()
    // The exchange is made; a table that stays is dropped by the next rebuild.
    try? call("drop_projection_table", P.name, "dropped")
    try? forgetRanges()
  }

  /// What was done in which part is of no more use.
  func forgetRanges() throws {
    var parameters = Parameters()
    parameters.add(rebuild.id)
    try session.query("delete from rebuild_ranges where rebuild_id = $1::uuid", parameters)
  }

  /// Applies the last events and exchanges the tables, while nothing else changes them.
  private func exchangeNow() throws {
    var begin = Instant.now()
    try session.transaction { () throws -> Void in
      let rowsBefore = try rowsMade()
      try LogStep<P>.forgetErased(in: "rebuild", held: rebuild.caughtUp ?? 0, session)
      try RebuildLease.check(rebuild, connect, exclusive: true, session)
      begin = Instant.now()
      let live = try ExchangeLocks.take(P.self, session)
      var position = rebuild.caughtUp ?? 0
      let last = try live ?? head()
      while position < last {
        position = try LogStep<P>.run(
          after: position,
          upTo: last,
          to: shadow,
          connect.keyring,
          session
        )
      }
      let grown = try rowsMade() - rowsBefore
      if P.mode == .following { try ExchangeLocks.takeTable(P.self, session) }
      try ExchangeLocks.exchange(
        P.name,
        "rebuild",
        held: position,
        displaced: last,
        revision: P.revision,
        session
      )
      var parameters = Parameters()
      parameters.add(rebuild.id)
      parameters.add(position)
      parameters.add(grown)
      try session.query(
        """
        update rebuilds
           set state = 'done', caught_up = $2::bigint, finished_at = clock_timestamp(),
               rows = rows + $3::bigint, events_done = $2::bigint, events_total = $2::bigint
         where rebuild_id = $1::uuid
        """,
        parameters
      )
    }
    let pause = Instant.now() - begin
    control.begin(done: try head(), total: try head())
    var parameters = Parameters()
    parameters.add(rebuild.id)
    parameters.add(pause)
    try session.query(
      """
      update rebuilds set pause_microseconds = extract(epoch from $2::interval) * 1000000
       where rebuild_id = $1::uuid
      """,
      parameters
    )
  }
}

/// The locks of an exchange, in the order in which the runner and appends take them: the
/// projection's row, the table, the head of the log.
enum ExchangeLocks {
  /// The longest wait for the lock of a table, during which fetches and appends wait too.
  private static let patience = "50ms"
  /// A process that is stopped in the middle holds the locks no longer than this.
  private static let stall = "5s"

  /// Keeps everybody from changing the live table; the last event that it holds, nil for the inline
  /// one, which holds all.
  static func take<P: Projection>(
    _: P.Type,
    _ session: borrowing BlockingConnection
  ) throws -> Int64? {
    var parameters = Parameters()
    parameters.add(P.name)
    // The runner's step is short.
    try session.script(
      """
      set local synchronous_commit = on;
      set local lock_timeout = '5s';
      set local idle_in_transaction_session_timeout = '\(stall)'
      """
    )
    let rows = try session.query(
      "select position from projections where name = $1::text for update",
      parameters
    )
    guard P.mode == .inline else { return try Position(rows.integer(0, 0)).checked.rawValue }
    try takeTable(P.self, session)
    try session.script("select from log_head for update")
    return nil
  }

  /// Keeps readers out as well: first those of the table of before, whose names change too, and
  /// who must not be waited for while the live one is locked.
  static func takeTable<P: Projection>(
    _: P.Type,
    _ session: borrowing BlockingConnection
  ) throws {
    try session.script("set local lock_timeout = '\(patience)'")
    let previous = try session.query("select to_regclass('\(P.name)_previous') is not null")
    for table in (previous.bool(0, 0) ? ["\(P.name)_previous"] : []) + [P.name] {
      try session.script("lock table \(table) in access exclusive mode")
    }
  }

  static func exchange(
    _ name: String,
    _ kind: String,
    held: Int64,
    displaced: Int64,
    revision: Int32,
    _ session: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(name)
    parameters.add(kind)
    parameters.add(held)
    parameters.add(displaced)
    parameters.add(revision)
    try session.query(
      """
      select exchange_projection($1::text, $2::text, $3::bigint, $4::bigint, $5::integer)
      """,
      parameters
    )
  }
}
