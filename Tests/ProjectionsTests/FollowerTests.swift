import EventLog
import Postgres
import Profiles
import Projections
import TestSupport
import Testing

@Suite("A read model", .database)
struct FollowerTests {
  @Test(arguments: [1, 2, 3, 4])
  func `brought up to date in steps is what a fresh fold gives`(seed: UInt64) async throws {
    try await withLane { loop, lane, _ async throws in
      var log = RandomLog(seed: seed)
      try await log.append(400, to: lane, on: loop)
    }
    var generator = SplitMix(state: seed)
    // The inline one's rows came with the events; its storage must do the same in steps.
    try TestDatabase.current.session().script("delete from current_users")
    for projection in ReadModels.all {
      let differences = try Self.differences(of: projection, using: &generator)
      #expect(differences == 0, "\(projection.name), seed \(seed)")
    }
  }

  @Test func `takes back what it is told is gone`() async throws {
    try await withLane { loop, lane, _ async throws in
      var log = RandomLog(seed: 5)
      try await log.append(50, to: lane, on: loop)
    }
    for projection in ReadModels.all { try Self.remove(projection) }
  }

  @Test func `is found by its name`() {
    #expect(ReadModels.all.map { $0.name }.allSatisfy { ReadModels.named($0)?.name == $0 })
    #expect(ReadModels.named("nothing") == nil)
    #expect(ReadModels.followers.allSatisfy { $0.mode == .following })
  }

  /// Rows that differ between the table, written in steps, and another that was copied into.
  private static func differences<P: Projection>(
    of projection: P.Type,
    using generator: inout SplitMix
  ) throws -> Int64 {
    let session = try TestDatabase.current.session()
    let events = try events(projection, session)
    var rest = events[...]
    while !rest.isEmpty {
      let step = rest.prefix(Int.random(in: 1...60, using: &generator))
      rest = rest.dropFirst(step.count)
      let keys = Set(step.compactMap(P.key))
      var rows: [P.Key: P.Row?] = [:]
      for (key, row) in try P.load(Array(keys), from: P.name, session) { rows[key] = row }
      try fold(projection, step, into: &rows)
      try P.write(rows, to: P.name, session)
    }
    var rows: [P.Key: P.Row?] = [:]
    try fold(projection, events[...], into: &rows)
    try session.script("create table fresh_\(P.name) (like \(P.name))")
    var lines: [UInt8]? = rows.values.reduce(into: []) { lines, row in
      if let row { P.copyLine(of: row, into: &lines) }
    }
    try session.copyIn("copy fresh_\(P.name) (\(P.columns)) from stdin") { lines.take() }
    let rowsFound = try session.query(
      """
      select count(*), (select count(*) from fresh_\(P.name)) from (
        (table \(P.name) except all table fresh_\(P.name)) union all
        (table fresh_\(P.name) except all table \(P.name))) as d
      """
    )
    #expect(rowsFound.integer(0, 1, as: Int64.self) > 0)
    return rowsFound.integer(0, 0)
  }

  private static func events(
    _ projection: any Projection.Type,
    _ session: borrowing BlockingConnection
  ) throws -> [RecordedEvent] {
    let found = try session.query(
      "select \(projection.eventColumns) from events order by position"
    )
    return TestKeys.events(found)
  }

  private static func fold<P: Projection>(
    _ projection: P.Type,
    _ events: ArraySlice<RecordedEvent>,
    into rows: inout [P.Key: P.Row?]
  ) throws {
    for event in events {
      guard let key = P.key(of: event) else { continue }
      rows[key] = .some(try P.apply(event, to: rows[key] ?? nil))
    }
  }

  private static func remove<P: Projection>(_ projection: P.Type) throws {
    let session = try TestDatabase.current.session()
    var rows: [P.Key: P.Row?] = [:]
    try fold(projection, try events(projection, session)[...], into: &rows)
    try P.write(rows, to: P.name, session)
    let keys = Array(rows.keys)
    #expect(try P.load(keys, from: P.name, session).count == keys.count)
    try P.write(
      Dictionary(uniqueKeysWithValues: keys.map { ($0, P.Row?.none) }),
      to: P.name,
      session
    )
    #expect(try P.load(keys, from: P.name, session).isEmpty)
  }
}
