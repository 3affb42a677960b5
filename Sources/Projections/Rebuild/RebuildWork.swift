import EventLog
import Postgres
import Profiles

/// The work of a rebuild, phase by phase, in a thread of its own.
///
/// It begins where an earlier process left off: what is done is known from the tables alone.
struct RebuildWork<P: Projection>: ~Copyable {
  /// Events that may be left for the exchange, while everyone waits.
  static var finalRoundLimit: Int64 { 200 }
  /// Rounds after which catching up ends, however much is left.
  private static var roundLimit: Int { 20 }

  let connect: RebuildConnect
  let control: RebuildControl
  let session: BlockingConnection
  private(set) var rebuild: RebuildRecord

  init(_ rebuild: RebuildRecord, _ connect: RebuildConnect, _ control: RebuildControl) throws {
    self.connect = connect
    self.control = control
    self.rebuild = rebuild
    session = try connect.open()
  }

  var shadow: String { P.name + "_rebuild" }

  /// Does what is left to do.
  mutating func run() throws {
    try rebuild.check()
    if rebuild.snapshot == nil { try prepare() }
    try fold()
    try enter(.indexing)
    try call("index_rebuild", P.name)
    try catchUp()
    guard try verify() else { return try finish(.differs) }
    guard !rebuild.isDryRun else {
      try call("drop_projection_table", P.name, "rebuild")
      try finish(.done)
      return try forgetRanges()
    }
    try exchange()
  }

  /// Makes the shadow and lays out the ranges.
  private mutating func prepare() throws {
    try enter(.preparing)
    try session.transaction { () throws -> Void in
      try RebuildLease.check(rebuild, connect, exclusive: true, session)
      try call("prepare_rebuild", P.name)
      // The days are looked up while they are counted. And an index that grows with its table costs
      // more work, but none that others would have to wait for.
      if P.partitioning == .inSequence || rebuild.throttle != nil {
        try call("index_rebuild", P.name)
      }
      let snapshot = try head()
      try RebuildRange.plan(
        P.partitioning,
        for: rebuild.id,
        upTo: snapshot,
        workers: rebuild.workers,
        throttle: rebuild.throttle,
        session
      )
      var parameters = Parameters()
      parameters.add(rebuild.id)
      parameters.add(snapshot)
      try session.query(
        """
        update rebuilds set snapshot_position = $2::bigint, events_total = $2::bigint
         where rebuild_id = $1::uuid
        """,
        parameters
      )
    }
    try reload()
  }

  /// Folds the ranges that are not done yet.
  private mutating func fold() throws {
    try enter(.folding)
    let snapshot = rebuild.snapshot ?? 0
    let doneBefore = try folded()
    control.begin(
      done: doneBefore + ((rebuild.caughtUp ?? snapshot) - snapshot),
      total: rebuild.caughtUp ?? snapshot
    )
    let due = try RebuildRange.list(of: rebuild.id, isDone: false, session)
    let (connect, rebuild, control) = (connect, rebuild, control)
    let workers = P.partitioning == .inSequence ? 1 : Int(rebuild.workers)
    try RangeQueue.run(due, workers: workers, control) { queue, worker in
      let fold: RangeFold<P>
      do {
        fold = try RangeFold<P>(connect, rebuild, control)
      } catch is BlockingConnection.Failure where worker > 0 {
        // The server has no room for so many: those that came in do the work.
        return
      }
      while let range = queue.next() { try fold.fold(range) }
    }
    let done = try folded()
    guard done == snapshot else {
      throw ProjectionError.incomplete("\(done) events were found, where \(snapshot) were due")
    }
  }

  private func folded() throws -> Int64 {
    var parameters = Parameters()
    parameters.add(rebuild.id)
    let events: Int64 = try session.query(
      """
      select coalesce(sum(events), 0)::bigint from rebuild_ranges
       where rebuild_id = $1::uuid and done
      """,
      parameters
    ).integer(0, 0)
    guard Position(events).isPossible else {
      throw ProjectionError.incomplete("the ranges count \(events) events")
    }
    return events
  }

  /// Applies what has been appended since the snapshot, round by round, until little is left.
  mutating func catchUp() throws {
    try enter(.catchingUp)
    for _ in 0..<Self.roundLimit {
      let position = rebuild.caughtUp ?? rebuild.snapshot ?? 0
      let last = try target()
      control.raise(total: last)
      if rebuild.caughtUp != nil, last - position <= Self.finalRoundLimit { return }
      try catchUp(from: position, to: last)
    }
  }

  private mutating func catchUp(from first: Int64, to last: Int64) throws {
    var position = first
    repeat {
      try control.goOn()
      let before = position
      position = try session.transaction { () throws -> Int64 in
        let rowsBefore = try rowsMade()
        // Before any row is locked that an erasure or the lease may wait for.
        try LogStep<P>.forgetErased(in: "rebuild", held: before, session)
        try RebuildLease.check(rebuild, connect, exclusive: true, session)
        let reached = try LogStep<P>.run(
          after: before,
          upTo: last,
          to: shadow,
          at: rebuild.throttle,
          connect.keyring,
          session
        )
        var parameters = Parameters()
        parameters.add(rebuild.id)
        parameters.add(reached)
        parameters.add(try rowsMade() - rowsBefore)
        try session.query(
          """
          update rebuilds set caught_up = $2::bigint, rows = rows + $3::bigint
           where rebuild_id = $1::uuid
          """,
          parameters
        )
        return reached
      }
      try control.count(Int(position - before))
    } while position < last
    try reload()
  }

  /// How many rows this session has put into the shadow and not taken out again lately, as the
  /// server counts them in passing: within a transaction, the difference of two answers is what the
  /// table has grown by between them.
  func rowsMade() throws -> Int64 {
    try session.query(
      """
      select pg_stat_get_xact_tuples_inserted(oid) - pg_stat_get_xact_tuples_deleted(oid)
        from pg_class where oid = '\(shadow)'::regclass
      """
    ).integer(0, 0)
  }

  /// The event up to which the shadow has to come: the last one, or the last one of the live table.
  func target() throws -> Int64 {
    if P.mode == .inline { return try head() }
    return max(rebuild.caughtUp ?? rebuild.snapshot ?? 0, try livePosition() ?? 0)
  }

  /// The last event that the live table holds; nil for the inline one, which holds all.
  func livePosition(_ lock: String = "") throws -> Int64? {
    var parameters = Parameters()
    parameters.add(P.name)
    let rows = try session.query(
      "select position from projections where name = $1::text \(lock)",
      parameters
    )
    guard rows.count == 1, !rows.isNull(0, 0) else { return nil }
    return try Position(rows.integer(0, 0)).checked.rawValue
  }

  func head() throws -> Int64 {
    try session.query("select coalesce(max(position), 0) from events").integer(0, 0)
  }

  /// Calls one of the functions that change tables.
  func call(_ function: String, _ arguments: String...) throws {
    var parameters = Parameters()
    for argument in arguments { parameters.add(argument) }
    let places = arguments.indices.map { "$\($0 + 1)::text" }.joined(separator: ", ")
    try session.query("select \(function)(\(places))", parameters)
  }

  /// Says that a phase begins, unless the work has to end.
  func enter(_ phase: RebuildRecord.State) throws {
    try control.goOn()
    control.enter(phase)
    try set(phase)
  }

  /// Says how it has ended.
  mutating func finish(_ state: RebuildRecord.State) throws {
    control.enter(state)
    try set(state)
    try reload()
  }

  private func set(_ state: RebuildRecord.State) throws {
    var parameters = Parameters()
    parameters.add(rebuild.id)
    parameters.add(connect.holder)
    parameters.add(state.rawValue)
    let rows = try session.query(
      """
      update rebuilds
         set state = $3::text, error = null,
             finished_at = case when $3::text = 'done' then clock_timestamp() end
       where rebuild_id = $1::uuid and holder = $2::uuid
      """,
      parameters
    )
    guard rows.affected == 1 else { throw ProjectionError.busy(P.name) }
  }

  mutating func reload() throws {
    guard let now = try RebuildRecord.find(rebuild.id, session) else { return }
    try now.check()
    rebuild = now
  }
}
