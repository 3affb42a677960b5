import Clocks
import EventLog
public import Postgres
public import Profiles

/// What is asked of rebuilds, as changes of their rows.
public enum RebuildOrders {
  /// Asks for a rebuild of a projection, which nobody runs yet.
  public static func insert(
    _ projection: any Projection.Type,
    _ options: RebuildOptions,
    _ connection: borrowing BlockingConnection
  ) throws -> RebuildID {
    let id = RebuildID(at: .now())
    var parameters = Parameters()
    parameters.add(id)
    parameters.add(projection.name)
    parameters.add(projection.revision)
    parameters.add(
      min(options.workers ?? RebuildOptions.defaultWorkers, RebuildOptions.workerLimit)
    )
    parameters.add(options.throttle)
    parameters.add(options.acceptsDifferences)
    parameters.add(options.isDryRun)
    parameters.add(options.isInService)
    parameters.add(options.requestedBy)
    let inserted = try connection.query(
      """
      insert into rebuilds (rebuild_id, projection, revision, state, workers, throttle,
                            accepts_differences, dry_run, in_service, requested_by)
        values ($1::uuid, $2::text, $3::integer, 'preparing', $4::integer, $5::integer,
                $6::boolean, $7::boolean, $8::boolean, $9::uuid)
        on conflict do nothing
      """,
      parameters
    )
    // There is one open already.
    guard inserted.affected == 1 else { throw ProjectionError.busy(projection.name) }
    return id
  }

  /// Asks for a rebuild, as part of a transaction; one that was begun for another revision of the
  /// definition, and that nobody is at, is given up first.
  public static func request(
    _ projection: any Projection.Type,
    _ options: RebuildOptions,
    _ connection: borrowing BlockingConnection
  ) throws -> RebuildID {
    if let open = try RebuildRecord.open(of: projection.name, connection, lock: true) {
      guard open.revision != projection.revision, !open.isHeld else {
        throw ProjectionError.busy(projection.name)
      }
      try cancel(open, connection)
    }
    return try insert(projection, options, connection)
  }

  /// Rebuilds that are the service's to run, or to give up, and that nobody is at.
  public static func due(_ connection: borrowing BlockingConnection) throws -> [RebuildRecord] {
    let rows = try connection.query(
      """
      select \(RebuildRecord.columns) from rebuilds
       where state not in ('done', 'cancelled') and \(RebuildLease.isOver("held_until"))
         and (wanted = 'cancel'
              or in_service and wanted = 'run' and state not in ('failed', 'differs'))
       order by created_at
      """
    )
    return (0..<rows.count).map { RebuildRecord(rows, $0) }
  }

  /// Lets an open rebuild go on, with these options.
  public static func adopt(
    _ id: RebuildID,
    _ options: RebuildOptions,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(id)
    parameters.add(options.workers.map { min($0, RebuildOptions.workerLimit) })
    parameters.add(options.throttle)
    parameters.add(options.acceptsDifferences)
    parameters.add(options.isInService)
    try connection.query(
      """
      update rebuilds
         set wanted = 'run', error = null, workers = coalesce($2::integer, workers),
             throttle = coalesce($3::integer, throttle),
             accepts_differences = accepts_differences or $4::boolean, in_service = in_service or $5::boolean,
             state = case when state in ('failed', 'differs') then 'catching up' else state end
       where rebuild_id = $1::uuid
      """,
      parameters
    )
  }

  /// Says what is wanted of an open rebuild: `run`, `pause` or `cancel`; and, where it is so, that
  /// differences are accepted.
  public static func want(
    _ wanted: String,
    of id: RebuildID,
    acceptingDifferences acceptsDifferences: Bool = false,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(id)
    parameters.add(wanted)
    parameters.add(acceptsDifferences)
    try connection.query(
      """
      update rebuilds
         set wanted = $2::text, accepts_differences = accepts_differences or $3::boolean
       where rebuild_id = $1::uuid
      """,
      parameters
    )
  }

  /// Notes why it failed.
  static func fail(
    _ id: RebuildID,
    _ connect: RebuildConnect,
    _ reason: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(id)
    parameters.add(connect.holder)
    parameters.add(reason)
    try connection.query(
      """
      update rebuilds set state = 'failed', error = $3::text
       where rebuild_id = $1::uuid and holder = $2::uuid and state not in ('done', 'cancelled')
      """,
      parameters
    )
  }

  /// Drops the shadow and ends the rebuild; part of a transaction that holds it.
  static func cancel(
    _ rebuild: RebuildRecord,
    _ connection: borrowing BlockingConnection
  ) throws {
    var name = Parameters()
    name.add(rebuild.projection)
    try connection.query("select drop_projection_table($1::text, 'rebuild')", name)
    var parameters = Parameters()
    parameters.add(rebuild.id)
    try connection.query("delete from rebuild_ranges where rebuild_id = $1::uuid", parameters)
    try connection.query(
      """
      update rebuilds
         set state = 'cancelled', finished_at = clock_timestamp(), holder = null,
             held_until = '-infinity'
       where rebuild_id = $1::uuid
      """,
      parameters
    )
  }
}
