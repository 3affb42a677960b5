import Clocks
import EventLog
import MerkleTree
import Postgres

/// Checks the log position by position, and the tree over it: one worker, with a connection.
struct PositionCheck: ~Copyable {
  private static let fetchSize = 4_096

  private let log: BlockingConnection
  private let tree: StoredTree
  private let findings: Findings

  init(
    _ snapshot: Snapshot,
    _ tree: StoredTree,
    _ findings: Findings
  ) throws {
    log = try snapshot.open()
    self.tree = tree
    self.findings = findings
  }

  /// Checks a stretch; `count` is told of events.
  func run(_ stretch: Stretch, count: (Int) -> Void) throws {
    var leaves = try StretchLeaves(stretch, tree, log)
    // One row before it, for the time.
    try log.script(
      """
      declare log no scroll cursor for
        select \(LogEntry.columns) from events
         where position >= \(stretch.first) and position <= \(stretch.end) order by position
      """
    )
    // What an event before the first should be like is nothing.
    var (position, time) = (stretch.first, Timestamp(microseconds: .min))
    while true {
      let rows = try log.query("fetch forward \(Self.fetchSize) from log")
      guard rows.count > 0 else { break }
      for row in 0..<rows.count {
        let found: Int64 = rows.integer(row, 0)
        let recorded = rows.timestamp(row, 1)
        if found == stretch.first {
          time = recorded
          continue
        }
        if found > position + 1 { note(&leaves, missing: position..<found - 1) }
        if found == position { findings.note(.position(Position(found)), .positionIsTaken) }
        if recorded < time { findings.note(.position(Position(found)), .timeFalls) }
        leaves.compare(LogEntry(rows, row)?.leaf, at: found - 1)
        (position, time) = (found, recorded)
      }
      count(rows.count)
    }
    try log.script("close log")
    if position < stretch.end { note(&leaves, missing: position..<stretch.end) }
    leaves.judge(try signedRoots(in: stretch), findings)
  }

  private func signedRoots(in stretch: Stretch) throws -> [SignedRoot] {
    guard let origin = tree.origins.last else { return [] }
    return try SignedRoot.read(stretch.first + 1...stretch.end, of: origin, log, findings)
  }

  /// Notes that there are no events for the leaves `indices`.
  private func note(_ leaves: inout StretchLeaves, missing indices: Range<Int64>) {
    leaves.miss(indices)
    findings.note(
      .position(Position(indices.lowerBound + 1)),
      .eventsAreMissing(Int64(indices.count))
    )
  }
}
