import EventLog
import Postgres
import Profiles
import Projections
import TestSupport

/// Writes down each event it is given, in the order in which it is given them.
enum Recorded: Projection {
  static let name = "recorded"
  static let revision: Int32 = 1
  static let mode = ProjectionMode.following
  static let partitioning = Partitioning.byEvent
  static let columns = "position"

  static func key(of event: RecordedEvent) -> Int64? { event.position.rawValue }

  static func apply(_ event: RecordedEvent, to row: Int64?) throws(ProjectionError) -> Int64? {
    event.position.rawValue
  }

  static func copyLine(of row: Int64, into line: inout [UInt8]) { line += "\(row)\n".utf8 }

  static func load(
    _ keys: [Int64],
    from table: String,
    _ connection: borrowing BlockingConnection
  ) throws -> [Int64: Int64] { [:] }

  static func write(
    _ rows: [Int64: Int64?],
    to table: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(array: rows.keys.sorted()) { $0 }
    try connection.query(
      """
      insert into \(table) (position)
        select position from unnest($1::bigint[]) with ordinality as r (position, n) order by n
      """,
      parameters
    )
  }
}

/// Counts the events of each user, and refuses one that is not later than the one before.
enum Counted: Projection {
  struct Row: Sendable {
    var count: Int64
    var last: Int64
  }

  static let name = "counted"
  static let revision: Int32 = 1
  static let mode = ProjectionMode.following
  static let partitioning = Partitioning.byUser
  static let columns = "user_id, count, last"

  /// An event of this type can't be taken in.
  static let poison = "Poison"

  static func key(of event: RecordedEvent) -> UserID? { event.user }

  static func apply(_ event: RecordedEvent, to row: Row?) throws(ProjectionError) -> Row? {
    guard event.type != poison, row.map({ $0.last < event.position.rawValue }) ?? true else {
      throw .unreadable(position: event.position, reason: "it can't be counted")
    }
    return Row(count: (row?.count ?? 0) + 1, last: event.position.rawValue)
  }

  static func copyLine(of row: Row, into line: inout [UInt8]) {}

  static func load(
    _ keys: [UserID],
    from table: String,
    _ connection: borrowing BlockingConnection
  ) throws -> [UserID: Row] {
    var parameters = Parameters()
    parameters.add(array: keys) { $0 }
    let rows = try connection.query(
      "select user_id, count, last from \(table) where user_id = any ($1::uuid[])",
      parameters
    )
    return Dictionary(
      uniqueKeysWithValues: (0..<rows.count).map { row in
        (rows.identifier(row, 0), Row(count: rows.integer(row, 1), last: rows.integer(row, 2)))
      }
    )
  }

  static func write(
    _ rows: [UserID: Row?],
    to table: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    let rows = rows.compactMap { user, row in row.map { (user, $0) } }
    var parameters = Parameters()
    parameters.add(array: rows) { $0.0 }
    parameters.add(array: rows) { $0.1.count }
    parameters.add(array: rows) { $0.1.last }
    try connection.query(
      """
      insert into \(table) (user_id, count, last)
        select * from unnest($1::uuid[], $2::bigint[], $3::bigint[])
        on conflict (user_id) do update set count = excluded.count, last = excluded.last
      """,
      parameters
    )
  }
}

/// The tables of the projections above, in the test's database, and what is known of them.
enum RecordingTables {
  static func create() throws {
    try TestDatabase.current.session().script(
      """
      create table recorded (n bigint generated always as identity, position bigint not null);
      create table counted (
        user_id uuid primary key, count bigint not null, last bigint not null);
      grant select, insert, update, delete on recorded, counted to jejak_service;
      insert into projections (name, revision, position)
        values ('recorded', 1, 0), ('counted', 1, 0);
      """
    )
  }

  /// Whether `recorded` has seen the first `head` events, each once, in order.
  static func recordedIsLog(to head: Int64) throws -> Bool {
    let rows = try TestDatabase.current.session().query(
      "select count(*), coalesce(bool_and(position = place), true) "
        + "from (select position, row_number() over (order by n) as place from recorded) seen"
    )
    return rows.integer(0, 0) == head && rows.bool(0, 1)
  }

  /// Whether `counted` is what the first `head` events add up to.
  static func countedIsLog(to head: Int64) throws -> Bool {
    var parameters = Parameters()
    parameters.add(head)
    return try TestDatabase.current.session().query(
      """
      with due as (
        select user_id, count(*) as count, max(position) as last from events
         where position <= $1::bigint group by user_id)
      select not exists (select * from due except select user_id, count, last from counted)
         and not exists (select user_id, count, last from counted except select * from due)
         and (select count(*) from due) = (select count(*) from counted)
      """,
      parameters
    ).bool(0, 0)
  }
}
