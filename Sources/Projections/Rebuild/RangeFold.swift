import EventLog
import Postgres

/// One worker of a rebuild: folds one range after the other, with a connection that reads and one
/// that writes.
struct RangeFold<P: Projection>: ~Copyable {
  /// Events read at a time, at most.
  private static var fetchSize: Int { 5_000 }

  private let reader: BlockingConnection
  private let writer: BlockingConnection
  private let connect: RebuildConnect
  private let rebuild: RebuildRecord
  private let snapshot: Int64
  private let control: RebuildControl

  init(_ connect: RebuildConnect, _ rebuild: RebuildRecord, _ control: RebuildControl) throws {
    // Both or none: a value that can't be copied is never half made.
    let first = try connect.open()
    let second = try connect.open()
    // The events of a range are sorted in memory, not by way of the disk that commits wait for.
    try first.script("set work_mem = '64MB'")
    reader = first
    writer = second
    self.connect = connect
    self.rebuild = rebuild
    self.control = control
    snapshot = rebuild.snapshot ?? 0
  }

  private var shadow: String { P.name + "_rebuild" }

  /// Folds the range into the shadow, and marks it as done in the same transaction.
  func fold(_ range: RebuildRange) throws {
    var events: Int64 = 0
    do {
      try writer.transaction { () throws -> Void in
        let rows =
          P.partitioning == .inSequence
          ? try foldInSequence(range, &events) : try foldApart(range, &events)
        try LogStep<P>.forgetErased(in: "rebuild", held: snapshot, writer)
        try finish(range, events: events, rows: rows)
      }
    } catch {
      control.discount(events)
      throw error
    }
  }

  /// Each row depends on no other range: the rows are copied into the shadow as they are complete.
  private func foldApart(_ range: RebuildRange, _ events: inout Int64) throws -> Int64 {
    try read(range, order: KeyFold<P>.order) { (next: () throws -> Rows?) throws -> Int64 in
      var fold = KeyFold<P>(connect.keyring)
      var hasEnded = false
      var folded: Int64 = 0
      try writer.copyIn("copy \(shadow) (\(P.columns)) from stdin") { () throws -> [UInt8]? in
        guard !hasEnded else { return nil }
        var lines: [UInt8] = []
        func complete(_ row: P.Row) {
          P.copyLine(of: row, into: &lines)
          folded += 1
        }
        if let rows = try next() {
          events += Int64(rows.count)
          try control.count(rows.count)
          try fold.add(rows, complete)
        } else {
          hasEnded = true
          try fold.finish(complete)
        }
        return lines
      }
      return folded
    }
  }

  /// Rows depend on the ranges before: they are loaded and written as the runner does.
  private func foldInSequence(_ range: RebuildRange, _ events: inout Int64) throws -> Int64 {
    try read(range, order: "position") { (next: () throws -> Rows?) throws -> Int64 in
      while let rows = try next() {
        events += Int64(rows.count)
        try control.count(rows.count)
        try LogStep<P>.apply(rows, to: shadow, connect.keyring, writer)
      }
      return 0
    }
  }

  private func read(
    _ range: RebuildRange,
    order: String,
    _ body: (() throws -> Rows?) throws -> Int64
  ) throws -> Int64 {
    let size = Throttle.step(at: rebuild.throttle, atMost: Self.fetchSize)
    return try reader.transaction("begin read only") {
      try reader.script(
        """
        set local cursor_tuple_fraction = 1;
        declare log no scroll cursor for
          select \(P.eventColumns) from events
           where \(range.condition(upTo: snapshot)) order by \(order)
        """
      )
      return try body { () throws -> Rows? in
        let rows = try reader.query("fetch forward \(size) from log")
        return rows.count > 0 ? rows : nil
      }
    }
  }

  /// Marks the range as done.
  ///
  /// Where another process has done it meanwhile, or taken the rebuild over, nothing of this
  /// transaction stays.
  private func finish(_ range: RebuildRange, events: Int64, rows: Int64) throws {
    try RebuildLease.check(rebuild, connect, exclusive: false, writer)
    var parameters = Parameters()
    parameters.add(rebuild.id)
    parameters.add(range.number)
    parameters.add(events)
    parameters.add(rows)
    let marked = try writer.query(
      """
      update rebuild_ranges set done = true, events = $3::bigint, rows = $4::bigint
       where rebuild_id = $1::uuid and number = $2::integer and not done
      """,
      parameters
    )
    guard marked.affected == 1 else { throw ProjectionError.busy(P.name) }
  }
}
