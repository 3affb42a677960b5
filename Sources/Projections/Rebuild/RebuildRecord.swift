public import Clocks
import EventLog
public import Postgres
public import Profiles

/// Names a rebuild.
public enum RebuildKind {}
/// The name of one rebuild.
public typealias RebuildID = Identifier<RebuildKind>

/// What the table `rebuilds` says of one rebuild.
public struct RebuildRecord: Sendable {
  /// How far a rebuild has come.
  public enum State: String, Sendable {
    /// The shadow table is made, and the ranges are laid out.
    case preparing
    /// The ranges are folded.
    case folding
    /// The shadow gets its indexes.
    case indexing
    /// What has been appended since is applied.
    case catchingUp = "catching up"
    /// The shadow is counted, and held against the live table.
    case verifying
    /// The tables are exchanged.
    case exchanging
    /// It has ended well.
    case done
    /// It has been given up.
    case cancelled
    /// It has met an error, and waits to be resumed or cancelled.
    case failed
    /// The tables differ: it waits until somebody accepts that, or cancels it.
    case differs
  }

  /// Its name.
  public let id: RebuildID
  /// The projection that it builds.
  public let projection: String
  /// The revision of the definition.
  public let revision: Int32
  /// How far it is.
  public let state: State
  /// What is asked of it: `run`, `pause` or `cancel`.
  public let wanted: String
  /// How many threads fold.
  public let workers: Int32
  /// Events a second at most; nil: as fast as it goes.
  public let throttle: Int32?
  /// Whether rows that differ from the live table's are no obstacle.
  public let acceptsDifferences: Bool
  /// Whether it ends before the exchange.
  public let isDryRun: Bool
  /// Whether the service runs it.
  public let isInService: Bool
  /// Whether a process is at it.
  public let isHeld: Bool
  /// The events up to this one are folded by ranges; nil while it prepares.
  public let snapshot: Int64?
  /// The last event that the shadow holds; nil while it is folded.
  public let caughtUp: Int64?
  /// Events that are to be folded, as far as is known.
  public let eventsTotal: Int64
  /// Events that are folded.
  public let eventsDone: Int64
  /// Time spent at work, pauses left out.
  public let workingTime: Duration
  /// Rows of the new table.
  public let rows: Int64?
  /// The bytes that it takes with its indexes.
  public let bytes: Int64?
  /// Rows that differ from the live table's; nil: not compared.
  public let differences: Int64?
  /// The keys of the first hundred that differ.
  public let differing: [String]
  /// How long writes had to wait at the exchange.
  public let pause: Duration?
  /// Why it failed.
  public let error: String?
  /// The API key of who asked for it; nil: a command.
  public let requestedBy: String?
  /// When it was asked for.
  public let createdAt: Timestamp
  /// When it ended.
  public let finishedAt: Timestamp?

  /// Whether it goes on, or may.
  public var isOpen: Bool { state != .done && state != .cancelled }

  /// Why nobody is at a rebuild that could go on as it is.
  public enum Waiting: String, Sendable {
    /// Its operator wants it to wait.
    case paused
    /// Its process has ended.
    case interrupted
    /// The service hasn't taken it up yet.
    case due
  }

  /// Why nobody is at it; nil where a process is, or where it has ended, failed or differs.
  public var waiting: Waiting? {
    guard canPause, !isHeld else { return nil }
    if wanted == "pause" { return .paused }
    return isInService ? .due : .interrupted
  }

  /// Whether it can be told to wait: it goes on, or would.
  public var canPause: Bool { isOpen && state != .failed && state != .differs }

  /// The columns that `init(_:_:)` reads, in its order.
  static let columns = """
    rebuild_id, projection, revision, state, wanted, workers, throttle, accepts_differences, \
    dry_run, in_service, not \(RebuildLease.isOver("held_until")), snapshot_position, caught_up, \
    events_total, events_done, working_microseconds, rows, differences, \
    differing, pause_microseconds, error, requested_by::text, created_at, \
    finished_at, bytes
    """

  /// The rebuild in row `row`, which has the `columns`.
  init(_ rows: Rows, _ row: Int) {
    func long(_ column: Int) -> Int64? {
      rows.isNull(row, column) ? nil : rows.integer(row, column)
    }
    id = rows.identifier(row, 0)
    projection = rows.string(row, 1) ?? ""
    revision = rows.integer(row, 2)
    state = State(rawValue: rows.string(row, 3) ?? "") ?? .failed
    wanted = rows.string(row, 4) ?? ""
    workers = rows.integer(row, 5)
    throttle = rows.isNull(row, 6) ? nil : rows.integer(row, 6)
    acceptsDifferences = rows.bool(row, 7)
    isDryRun = rows.bool(row, 8)
    isInService = rows.bool(row, 9)
    isHeld = rows.bool(row, 10)
    snapshot = long(11)
    caughtUp = long(12)
    // What is shown and counted on can't be out of range, whatever was written there.
    func counted(_ column: Int) -> Int64 {
      max(0, min(Position.limit.rawValue, rows.integer(row, column)))
    }
    eventsTotal = counted(13)
    eventsDone = counted(14)
    workingTime = .microseconds(counted(15))
    self.rows = long(16)
    differences = long(17)
    differing = rows.strings(row, 18)
    pause = long(19).map { .microseconds($0) }
    error = rows.string(row, 20)
    requestedBy = rows.string(row, 21)
    createdAt = rows.timestamp(row, 22)
    bytes = long(24)
    finishedAt = rows.isNull(row, 23) ? nil : rows.timestamp(row, 23)
  }

  /// Sees that its numbers are such as a rebuild writes.
  func check() throws(ProjectionError) {
    for position in [snapshot, caughtUp].compactMap({ $0 }) { _ = try Position(position).checked }
    guard (caughtUp ?? snapshot ?? 0) >= (snapshot ?? 0),
      (1...RebuildOptions.workerLimit).contains(workers)
    else {
      throw .incomplete("the row of rebuild \(id) has numbers that no rebuild writes")
    }
  }

  /// The rebuild of that name.
  public static func find(
    _ id: RebuildID,
    _ connection: borrowing BlockingConnection
  ) throws -> RebuildRecord? {
    var parameters = Parameters()
    parameters.add(id)
    let rows = try connection.query(
      "select \(columns) from rebuilds where rebuild_id = $1::uuid",
      parameters
    )
    return rows.count == 1 ? RebuildRecord(rows, 0) : nil
  }

  /// The last `limit` rebuilds of a projection, the newest first.
  public static func list(
    of projection: String,
    limit: Int32,
    _ connection: borrowing BlockingConnection
  ) throws -> [RebuildRecord] {
    var parameters = Parameters()
    parameters.add(projection)
    parameters.add(limit)
    let rows = try connection.query(
      """
      select \(columns) from rebuilds where projection = $1::text
       order by created_at desc, rebuild_id desc limit $2::integer
      """,
      parameters
    )
    return (0..<rows.count).map { RebuildRecord(rows, $0) }
  }

  /// Those that are open, one of a projection at most, by its name.
  public static func open(
    _ connection: borrowing BlockingConnection
  ) throws -> [String: RebuildRecord] {
    let rows = try connection.query(
      "select \(columns) from rebuilds where state not in ('done', 'cancelled')"
    )
    let records = (0..<rows.count).map { RebuildRecord(rows, $0) }
    return Dictionary(records.map { ($0.projection, $0) }) { first, _ in first }
  }

  /// The one that is open, of which there is one at most; with `lock`, it stays as it is until the
  /// transaction ends.
  public static func open(
    of projection: String,
    _ connection: borrowing BlockingConnection,
    lock: Bool = false
  ) throws -> RebuildRecord? {
    var parameters = Parameters()
    parameters.add(projection)
    let rows = try connection.query(
      """
      select \(columns) from rebuilds
       where projection = $1::text and state not in ('done', 'cancelled') \(lock ? "for update" : "")
      """,
      parameters
    )
    return rows.count == 1 ? RebuildRecord(rows, 0) : nil
  }
}
