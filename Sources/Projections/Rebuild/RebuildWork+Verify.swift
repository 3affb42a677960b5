import EventLog
import Postgres
import Synchronization

extension RebuildWork {
  /// Differing keys that are named.
  private static var namedLimit: Int { 100 }

  /// Counts the shadow, and holds it against the live table; false where they differ, nobody has
  /// accepted that, and both were to be the same.
  ///
  /// A table of another revision is expected to differ: it is compared by a dry run alone, which
  /// asks what a rebuild would change.
  mutating func verify() throws -> Bool {
    try enter(.verifying)
    try count()
    guard try rebuild.isDryRun || isSameRevision() else {
      try note(differences: nil, [])
      return true
    }
    let (differences, differing) = try compare()
    try note(differences: differences, Array(differing.sorted().prefix(Self.namedLimit)))
    return differences == 0 || rebuild.acceptsDifferences || rebuild.isDryRun
  }

  /// What must hold of any right table, without folding anything.
  private mutating func count() throws {
    let caughtUp = rebuild.caughtUp ?? 0
    let counted =
      P.countedEvents(in: shadow, upTo: caughtUp).map { "coalesce(\($0), 0)::bigint" }
      ?? "null::bigint"
    let facts = try session.query(
      "select count(*), \(counted), pg_total_relation_size('\(shadow)') from \(shadow)"
    )
    if !facts.isNull(0, 1), facts.integer(0, 1) != caughtUp {
      throw ProjectionError.incomplete(
        "the new table holds \(facts.integer(0, 1, as: Int64.self)) events of \(caughtUp)"
      )
    }
    var parameters = Parameters()
    parameters.add(rebuild.id)
    parameters.add(facts.integer(0, 0, as: Int64.self))
    parameters.add(facts.integer(0, 2, as: Int64.self))
    try session.query(
      "update rebuilds set rows = $2::bigint, bytes = $3::bigint where rebuild_id = $1::uuid",
      parameters
    )
  }

  private func isSameRevision() throws -> Bool {
    var parameters = Parameters()
    parameters.add(P.name)
    parameters.add(P.revision)
    return try session.query(
      "select from projections where name = $1::text and revision = $2::integer",
      parameters
    ).count == 1
  }

  private mutating func note(differences: Int64?, _ differing: [String]) throws {
    var parameters = Parameters()
    parameters.add(rebuild.id)
    parameters.add(differences)
    parameters.add(array: differing) { $0 }
    try session.query(
      """
      update rebuilds set differences = $2::bigint, differing = $3::text[]
       where rebuild_id = $1::uuid
      """,
      parameters
    )
    try reload()
  }

  /// Counts the rows that differ, range by range, each in a snapshot of its own: rows that events
  /// behind one of the two tables belong to are left out.
  private func compare() throws -> (Int64, [String]) {
    let found = Found()
    let (connect, rebuild, control) = (connect, rebuild, control)
    var ranges = try RebuildRange.list(of: rebuild.id, session)
    switch P.partitioning {
    case .byUser: ranges = RebuildRange.joined(ranges, into: Int(rebuild.workers))
    case .byEvent:
      // What was applied by catching up.
      let first = (rebuild.snapshot ?? 0) + 1
      ranges.append(RebuildRange(number: 0, firstPosition: first, lastPosition: .max))
    case .inSequence:
      ranges = [RebuildRange(number: 0)]
    }
    if ranges.isEmpty { ranges = [RebuildRange(number: 0)] }
    try RangeQueue.run(ranges, workers: Int(rebuild.workers), control) { queue, worker in
      let comparison: Comparison<P>
      do {
        comparison = Comparison(connection: try connect.open(), held: rebuild.caughtUp ?? 0)
      } catch is BlockingConnection.Failure where worker > 0 {
        return
      }
      while let range = queue.next() {
        try control.goOn()
        let (count, keys) = try comparison.run(range, naming: Self.namedLimit)
        found.add(count, keys)
      }
    }
    return found.all
  }
}

/// Collects what several threads find.
private final class Found: Sendable {
  private let found = Mutex<(Int64, [String])>((0, []))

  var all: (Int64, [String]) { found.withLock { $0 } }

  func add(_ count: Int64, _ keys: [String]) {
    found.withLock { found in
      found.0 += count
      found.1 += keys
    }
  }
}
