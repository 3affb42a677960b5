public import Clocks
public import EventLog
public import Postgres

/// How one projection stands.
public struct ProjectionState: Sendable {
  /// The event that a projection can't take in.
  public struct Stop: Sendable, Equatable {
    /// Its position; the projection holds all events before it.
    public let position: Position
    /// Why, without a person's data.
    public let reason: String
    /// When it was found.
    public let time: Timestamp
  }

  /// What a rollback would bring back.
  public struct Previous: Sendable, Equatable {
    /// The last event that the table of before the last exchange holds.
    public let position: Position
    /// The revision it was built by.
    public let revision: Int32
  }

  /// In a word what an operator should know; the gravest of what holds.
  public enum Condition: String, Sendable {
    /// It holds all events, or is about to.
    case running
    /// It waits for an event to be mended, or the code.
    case stopped
    /// It goes on, but its definition has changed since its table was built.
    case rebuildDue = "rebuild-due"
  }

  /// The projection's name.
  public let name: String
  /// How its rows come about.
  public let mode: ProjectionMode
  /// The revision that the table was built by.
  public let revision: Int32
  /// The revision of the running code.
  public let definedRevision: Int32
  /// The last event that the table holds.
  public let position: Position
  /// How many events the log has beyond it.
  public let lag: Int64
  /// Where and why it stopped, if it did.
  public let stop: Stop?
  /// The table kept for a rollback, if one is.
  public let previous: Previous?

  /// What an operator should know.
  public var condition: Condition {
    if stop != nil { return .stopped }
    return revision == definedRevision ? .running : .rebuildDue
  }

  /// Reads how `projections` stand, in their order.
  ///
  /// `patience` is how long the answer may take, before the connection counts as lost.
  public static func read(
    _ projections: [any Projection.Type],
    _ connection: borrowing BlockingConnection,
    patience: Duration? = nil
  ) throws -> [ProjectionState] {
    states(of: projections, try connection.query(sql, patience: patience))
  }

  /// Answers what `states(of:_:)` takes.
  public static let sql = """
    select name, revision, position, stopped_at, stopped_because, stopped_time,
           previous_position, previous_revision,
           (select coalesce(max(position), 0) from events)
      from projections
    """

  /// The states of `projections`, in their order, from the rows of `sql`; one that the table
  /// doesn't have is left out.
  public static func states(
    of projections: [any Projection.Type],
    _ rows: Rows
  ) -> [ProjectionState] {
    projections.compactMap { projection in
      (0..<rows.count).first { rows.string($0, 0) == projection.name }
        .map { ProjectionState(projection, rows, $0) }
    }
  }

  private init(_ projection: any Projection.Type, _ rows: Rows, _ row: Int) {
    name = projection.name
    mode = projection.mode
    revision = rows.integer(row, 1)
    definedRevision = projection.revision
    let head: Int64 = rows.integer(row, 8)
    // The inline one holds every event by construction.
    let reached = rows.isNull(row, 2) ? head : rows.integer(row, 2)
    position = Position(reached)
    // Whatever was written there.
    let (distance, overflow) = head.subtractingReportingOverflow(reached)
    lag = overflow ? (reached < 0 ? .max : 0) : max(0, distance)
    stop =
      rows.isNull(row, 3)
      ? nil
      : Stop(
        position: Position(rows.integer(row, 3)),
        reason: rows.string(row, 4) ?? "",
        time: rows.timestamp(row, 5)
      )
    previous =
      rows.isNull(row, 6)
      ? nil : Previous(position: Position(rows.integer(row, 6)), revision: rows.integer(row, 7))
  }

  /// Clears the stop of `name`, so that the runner tries the event again within a second; nil
  /// where it was not stopped.
  public static func resume(
    _ name: String,
    _ connection: borrowing BlockingConnection
  ) throws -> Stop? {
    var parameters = Parameters()
    parameters.add(name)
    let rows = try connection.query(
      """
      with before as (
        select name, stopped_at, stopped_because, stopped_time from projections
         where name = $1::text and stopped_at is not null for update)
      update projections p set stopped_at = null, stopped_because = null, stopped_time = null
        from before where p.name = before.name
      returning before.stopped_at, before.stopped_because, before.stopped_time,
                pg_notify(('jejak ' || current_schema())::name, '')
      """,
      parameters
    )
    guard rows.count == 1 else { return nil }
    return Stop(
      position: Position(rows.integer(0, 0)),
      reason: rows.string(0, 1) ?? "",
      time: rows.timestamp(0, 2)
    )
  }
}
