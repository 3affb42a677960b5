import EventLog
import Postgres
import Profiles

/// Who runs a rebuild: one process at a time.
///
/// A lock of the session tells at once that a process has died; a lease that is renewed tells it of
/// a machine that has vanished. Whatever changes a rebuild asks first, in its own transaction,
/// whether the lease is still its own.
enum RebuildLease {
  /// How long a lease holds without being renewed.
  private static let term = "5 s"

  /// The condition that a lease until `column` holds no more; one beyond a term is nobody's.
  static func isOver(_ column: String) -> String {
    "(\(column) < clock_timestamp() or \(column) > clock_timestamp() + interval '\(term)')"
  }

  /// Tries to have the lock that goes with the name, until the session ends.
  static func lock(
    _ projection: String,
    _ connection: borrowing BlockingConnection
  ) throws -> Bool {
    var parameters = Parameters()
    parameters.add(projection)
    return try connection.query(
      """
      select pg_try_advisory_lock(
               hashtext('jejak rebuild ' || $1::text || ' ' || current_schema()))
      """,
      parameters
    ).bool(0, 0)
  }

  /// Takes the lease of an open rebuild; false where another process has it.
  static func take(
    _ id: RebuildID,
    _ connect: RebuildConnect,
    isLocked: Bool,
    _ connection: borrowing BlockingConnection
  ) throws -> Bool {
    var parameters = Parameters()
    parameters.add(id)
    parameters.add(connect.holder)
    parameters.add(isLocked)
    let taken = try connection.query(
      """
      with before as (
        select rebuild_id, holder from rebuilds where rebuild_id = $1::uuid for update)
      update rebuilds r
         set holder = $2::uuid, held_until = clock_timestamp() + interval '\(term)'
        from before
       where r.rebuild_id = before.rebuild_id and r.state not in ('done', 'cancelled')
         and ($3::boolean
              or r.held_until > '-infinity' and \(isOver("r.held_until")))
      returning before.holder
      """,
      parameters
    )
    guard taken.count == 1 else { return false }
    if !isLocked, !taken.isNull(0, 0) {
      try end(sessionsOf: taken.identifier(0, 0), connect, connection)
    }
    return true
  }

  /// Ends the sessions of a process that is stopped or has vanished: what they have locked would
  /// hold up whoever goes on.
  private static func end(
    sessionsOf holder: RebuildID,
    _ connect: RebuildConnect,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(RebuildConnect.name(of: holder))
    // They are of the role that logged in, as this session is.
    try connection.script("reset role")
    try connection.query(
      """
      select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = $1::text and datname = current_database()
      """,
      parameters
    )
    for statement in connect.setup { try connection.script(statement) }
  }

  /// What its operator wants meanwhile.
  struct Wishes {
    let wanted: String
    let throttle: Int32?
  }

  /// Holds on to the lease and notes the progress; nil where another process has taken it.
  static func renew(
    _ rebuild: RebuildRecord,
    _ connect: RebuildConnect,
    _ control: RebuildControl,
    working: Duration,
    _ connection: borrowing BlockingConnection
  ) throws -> Wishes? {
    var parameters = Parameters()
    parameters.add(rebuild.id)
    parameters.add(connect.holder)
    parameters.add(control.done)
    parameters.add(control.total)
    parameters.add(rebuild.workingTime + working)
    let rows = try connection.query(
      """
      update rebuilds
         set held_until = clock_timestamp() + interval '\(term)', events_done = $3::bigint,
             events_total = $4::bigint,
             working_microseconds = extract(epoch from $5::interval) * 1000000
       where rebuild_id = $1::uuid and holder = $2::uuid
      returning wanted, throttle
      """,
      parameters
    )
    guard rows.count == 1 else { return nil }
    return Wishes(
      wanted: rows.string(0, 0) ?? "run",
      throttle: rows.isNull(0, 1) ? nil : rows.integer(0, 1)
    )
  }

  /// Throws unless the lease is still this process's own; with `exclusive`, it stays so until the
  /// transaction ends.
  static func check(
    _ rebuild: RebuildRecord,
    _ connect: RebuildConnect,
    exclusive: Bool,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(rebuild.id)
    parameters.add(connect.holder)
    let held = try connection.query(
      """
      select from rebuilds where rebuild_id = $1::uuid and holder = $2::uuid
         for \(exclusive ? "update" : "key share")
      """,
      parameters
    )
    guard held.count == 1 else { throw ProjectionError.busy(rebuild.projection) }
  }

  /// Lets go of it.
  static func release(
    _ id: RebuildID,
    _ connect: RebuildConnect,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(id)
    parameters.add(connect.holder)
    try connection.query(
      """
      update rebuilds set holder = null, held_until = '-infinity'
       where rebuild_id = $1::uuid and holder = $2::uuid
      """,
      parameters
    )
  }
}
