import EventLog
import MerkleTree
import Postgres

/// The tree as the tables have it, and the leaves that are added to it.
struct TreeGrowth {
  private(set) var edge: TreeEdge
  private var filled: [TreeEdge.FullTile] = []

  /// Reads the edge of the tree of `size` leaves.
  init(size: Int64, _ connection: borrowing BlockingConnection) throws {
    let rows = try connection.query("select level, hashes from tree_edge order by level")
    var levels: [[TreeHash]] = []
    for row in 0..<rows.count {
      guard Int(rows.integer(row, 0, as: Int16.self)) == row,
        let hashes = [TreeHash](rows.bytes(row, 1))
      else { throw NotaryRefusal.treeIsDamaged }
      levels.append(hashes)
    }
    // A level that the tree has not come to has no row, not even an empty one.
    guard levels.isEmpty || size >> Int64(8 * (levels.count - 1)) > 0,
      let edge = TreeEdge(size: size, levels: levels)
    else {
      throw NotaryRefusal.treeIsDamaged
    }
    self.edge = edge
  }

  /// Takes in the events up to the position `end`, which the log has.
  ///
  /// Those of the last tile that are in the tree already are read once more: so it is noticed if
  /// the log's end was cut off and grew again, or an event has changed before it was signed.
  mutating func takeIn(upTo end: Int64, _ connection: borrowing BlockingConnection) throws {
    let width = Int64(TileID.fullWidth)
    let start = edge.size == 0 ? 0 : (edge.size - 1) / width * width
    let known = try leaves(from: start, connection)
    var parameters = Parameters()
    parameters.add(start)
    parameters.add(end)
    let rows = try connection.query(
      """
      select \(LogEntry.columns) from events
       where position > $1::bigint and position <= $2::bigint order by position
      """,
      parameters
    )
    for row in 0..<rows.count {
      let position = start + Int64(row) + 1
      guard rows.integer(row, 0) == position else { throw NotaryRefusal.hole(position: position) }
      guard let entry = LogEntry(rows, row) else {
        throw NotaryRefusal.eventIsImpossible(position: position)
      }
      if row < known.count {
        guard entry.leaf == known[row] else {
          throw NotaryRefusal.eventDiffers(position: position)
        }
      } else {
        edge.append(entry.leaf) { filled.append($0) }
      }
    }
    guard start + Int64(rows.count) == end else {
      throw NotaryRefusal.hole(position: start + Int64(rows.count) + 1)
    }
  }

  /// Writes what was added.
  func write(_ connection: borrowing BlockingConnection) throws {
    var tiles = Parameters()
    tiles.add(array: filled) { Int16($0.tile.level) }
    tiles.add(array: filled) { $0.tile.index }
    tiles.add(array: filled) { $0.hashes.bytes }
    try connection.query(
      """
      insert into tree_tiles (level, index, hashes)
        select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])
      """,
      tiles
    )
    var levels = Parameters()
    levels.add(array: edge.levels.indices) { Int16($0) }
    levels.add(array: edge.levels) { $0.bytes }
    try connection.query(
      """
      insert into tree_edge (level, hashes) select * from unnest($1::smallint[], $2::bytea[])
          on conflict (level) do update set hashes = excluded.hashes
       where tree_edge.hashes <> excluded.hashes
      """,
      levels
    )
    var size = Parameters()
    size.add(edge.size)
    try connection.query(
      "update notary set size = $1::bigint where size <> $1::bigint",
      size
    )
  }

  /// The root of the first `size` leaves, out of the tables; nil where a tile is missing.
  ///
  /// What was added has to be written before.
  func root(
    ofTreeOf size: Int64,
    _ connection: borrowing BlockingConnection
  ) throws -> TreeHash? {
    if size == edge.size { return edge.root }
    guard size < edge.size else { return nil }
    let needed = TileSet.needed(forRootOf: size)
    let rows = try connection.query(TreeQuery.tiles.sql, TreeQuery.tilesParameters(needed))
    return TreeQuery.tiles(rows).root(ofTreeOf: size)
  }

  /// The last leaves of the tree: those of the edge, or of the last tile where it is full.
  private func leaves(
    from start: Int64,
    _ connection: borrowing BlockingConnection
  ) throws -> [TreeHash] {
    let count = Int(edge.size - start)
    if count < TileID.fullWidth { return edge.levels.first ?? [] }
    let tile = TileID(level: 0, index: start / Int64(TileID.fullWidth))
    let rows = try connection.query(TreeQuery.tiles.sql, TreeQuery.tilesParameters([tile]))
    guard let hashes = TreeQuery.tiles(rows)[tile], hashes.count == count else {
      throw NotaryRefusal.treeIsDamaged
    }
    return hashes
  }
}
