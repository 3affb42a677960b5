import EventLog
import MerkleTree
import Postgres
import Sodium
import TestSupport
import Testing

@testable import Verification

/// A log whose tree has a full tile of the second level, and so a third level.
private let eventCount: Int64 = 66_000

@Suite("The tree of a large log", .database)
struct TreeTests {
  /// Fills the log, and its tree by the definition.
  private func fill(_ session: borrowing BlockingConnection) throws {
    try session.script(
      """
      insert into events (position, recorded_at, user_id, event_id, version, stream, schema,
                          actor_kind, type, changed, payload, payload_sha256)
        select n, timestamptz '2026-01-01' + n * interval '1 second', md5(n::text)::uuid,
               md5('event ' || n)::uuid, 1, 1, 1, 3, 'X', '{}', '', sha256('')
          from generate_series(1, \(eventCount)) n;
      """
    )
    let rows = try session.query("select \(LogEntry.columns) from events order by position")
    var edge = TreeEdge()
    for row in 0..<rows.count {
      try edge.append(try #require(LogEntry(rows, row)).leaf) { tile, hashes in
        var parameters = Parameters()
        parameters.add(Int16(tile.level))
        parameters.add(tile.index)
        parameters.add(hashes.flatMap(\.bytes))
        try session.query(
          "insert into tree_tiles values ($1::smallint, $2::bigint, $3::bytea)",
          parameters
        )
      }
    }
    for (level, hashes) in edge.levels.enumerated() {
      var parameters = Parameters()
      parameters.add(Int16(level))
      parameters.add(hashes.flatMap(\.bytes))
      try session.query("insert into tree_edge values ($1::smallint, $2::bytea)", parameters)
    }
    try session.script(
      """
      update notary set size = \(eventCount);
      create table kept as select * from tree_edge;
      """
    )
  }

  /// What is found out by tree and positions, without the users.
  private func findings() throws -> [Finding] {
    try Snapshot.take(of: TestDatabase.current.target) { snapshot, connection in
      let findings = Findings()
      let tree = try StoredTree(length: snapshot.length, connection)
      try tree.check(connection, findings)
      let stretches = Stretch.plan(length: snapshot.length, tree)
      #expect(stretches.count == 5)
      let check = try PositionCheck(snapshot, tree, findings)
      for stretch in stretches { try check.run(stretch) { _ in } }
      #expect(try tree.root(ofTreeOf: eventCount, connection) == tree.rightEdge?.root)
      return findings.all.first
    }
  }

  @Test func `is held against itself at every level`() throws {
    let session = try TestDatabase.current.session()
    try fill(session)
    #expect(try findings() == [])

    let leaves = TileID(level: 0, index: 7)
    let second = TileID(level: 1, index: 0)
    let third = TileID(level: 2, index: 0)
    /// Runs `alter`, and what takes it back afterwards.
    func found(_ alter: String, _ takeBack: String? = nil) throws -> [Finding] {
      try session.script(alter)
      let found = try findings()
      try session.script(takeBack ?? alter)
      return found
    }
    let flip = "set hashes = set_byte(hashes, 230, 255 - get_byte(hashes, 230))"

    #expect(
      try found("update tree_tiles \(flip) where level = 0 and index = 7")
        == [Finding(place: .tile(leaves), problem: .leavesDiffer)]
    )
    // Of a tile in the middle those below and the one above know.
    #expect(
      try found("update tree_tiles \(flip) where level = 1")
        == [
          Finding(place: .tile(second), problem: .hashDiffers(7, leaves)),
          Finding(place: .tile(third), problem: .hashDiffers(0, second)),
        ]
    )
    #expect(
      try found(
        "update tree_edge set hashes = sha256(hashes) where level = 2",
        """
        update tree_edge set hashes = (select hashes from kept where level = 2) where level = 2
        """
      )
        == [Finding(place: .tile(third), problem: .hashDiffers(0, second))]
    )
    #expect(
      try found(
        "update events set trace_id = 'x' where position = 60000",
        """
        update events set trace_id = null where position = 60000
        """
      )
        == [Finding(place: .position(Position(60_000)), problem: .leafDiffers)]
    )
    #expect(
      try found("delete from tree_tiles where level = 1", "select 1").first
        == Finding(place: .tile(second), problem: .tileIsMissing)
    )
  }
}
