import MerkleTree
import Postgres
import Sodium

/// The tree as the database has it, but for the tiles of the leaves, which are many.
struct StoredTree: Sendable {
  /// How many leaves it has; no more than there are hashes or events of.
  let size: Int64
  /// How many it is said to have, where that can't be.
  let impossibleSize: Int64?
  /// The keys that it is and was signed with.
  let origins: [LogOrigin]
  /// The tiles that are full, but for those of the leaves.
  private let tiles: [TileID: [TreeHash]]
  /// The hashes at the right edge of each level.
  private let edge: [Int: [TreeHash]]
  /// Rows of the edge whose bytes are no hashes.
  private let damaged: [Int]

  /// Reads it, over a log of so many events.
  init(length: Int64, _ connection: borrowing BlockingConnection) throws {
    origins = try LogOrigin.read(connection)
    var tiles: [TileID: [TreeHash]] = [:]
    let full = try connection.query("select level, index, hashes from tree_tiles where level <> 0")
    for row in 0..<full.count {
      let level: Int16 = full.integer(row, 0)
      let tile = TileID(level: Int(level), index: full.integer(row, 1))
      tiles[tile] = [TreeHash](each: full.bytes(row, 2))
    }
    self.tiles = tiles
    var edge: [Int: [TreeHash]] = [:]
    let partial = try connection.query("select level, hashes from tree_edge")
    var damaged: [Int] = []
    for row in 0..<partial.count {
      let level: Int16 = partial.integer(row, 0)
      if partial.bytes(row, 1).count % SHA256.byteCount != 0 { damaged.append(Int(level)) }
      edge[Int(level)] = [TreeHash](each: partial.bytes(row, 1))
    }
    self.edge = edge
    self.damaged = damaged
    let sizes = try connection.query(
      """
      select coalesce(max(size), 0), (select count(*) from tree_tiles where level = 0) from notary
      """
    )
    let said: Int64 = sizes.integer(0, 0)
    // Whoever wrote a size of 2^62 would have it looked for a leaf at a time.
    let leaves = sizes.integer(0, 1) * Int64(TileID.fullWidth) + Int64(edge[0]?.count ?? 0)
    size = max(0, min(said, max(leaves, length)))
    impossibleSize = said == size ? nil : said
  }

  /// The hashes of a tile, but for a full one of leaves; nil where they are not there, or not as
  /// many as the tree's size wants.
  subscript(_ tile: TileID) -> [TreeHash]? {
    let width = tile.width(inTreeOf: size)
    let hashes = width == TileID.fullWidth ? tiles[tile] : edge[tile.level]
    return hashes?.count == width ? hashes : nil
  }

  /// The hash that the level above has of a full tile.
  func parent(of tile: TileID) -> TreeHash? {
    let (above, place) = tile.parent
    return self[above].flatMap { place < $0.count ? $0[place] : nil }
  }

  /// The right edge, to add leaves to; nil where it is not whole.
  var rightEdge: TreeEdge? {
    var levels: [[TreeHash]] = []
    while hashCount(levels.count) > 0 {
      levels.append(edge[levels.count] ?? [])
    }
    return TreeEdge(size: size, levels: levels)
  }

  /// The root of the tree's first leaves; nil where a tile is missing.
  func root(
    ofTreeOf count: Int64,
    _ connection: borrowing BlockingConnection
  ) throws -> TreeHash? {
    var set = TileSet()
    let needed = TileSet.needed(forRootOf: count)
    for tile in needed { set[tile] = self[tile] }
    for tile in needed where tile.level == 0 && set[tile] == nil {
      let rows = try connection.query(
        "select hashes from tree_tiles where level = 0 and index = \(tile.index)"
      )
      if rows.count == 1 { set[tile] = [TreeHash](each: rows.bytes(0, 0)) }
    }
    return set.root(ofTreeOf: count)
  }

  /// Checks the tiles above those of the leaves.
  ///
  /// Whether the first of these levels fits the leaves is found out with the events.
  func check(_ connection: borrowing BlockingConnection, _ findings: Findings) throws {
    if let impossibleSize { findings.note(.tree, .sizeIsImpossible(impossibleSize)) }
    var level = 1
    while hashCount(level) > 0 {
      let width = Int64(TileID.fullWidth)
      for index in 0..<(hashCount(level) + width - 1) / width {
        check(TileID(level: level, index: index), findings)
      }
      level += 1
    }
    let extra = try connection.query(
      """
      select index from tree_tiles where level = 0 and index not between 0 and \(hashCount(1) - 1)
      """
    )
    let found = (0..<extra.count).map { TileID(level: 0, index: extra.integer($0, 0)) }
    for tile in found + tiles.keys
    where tile.level < 0 || tile.index < 0 || tile.width(inTreeOf: size) != TileID.fullWidth {
      findings.note(.tile(tile), .tileIsUnfounded)
    }
    for (level, hashes) in edge {
      let tile = TileID(
        level: level,
        index: level < 0 ? 0 : hashCount(level) / Int64(TileID.fullWidth)
      )
      // Where some are due, another number of them is told as a tile that is missing. Each level of
      // the tree has its row, if an empty one where its tiles are full, and no other.
      let isDue = level >= 0 && hashCount(level) > 0
      let isTold = isDue && tile.width(inTreeOf: size) > 0 && self[tile] == nil
      if !isDue || (tile.width(inTreeOf: size) == 0 && !hashes.isEmpty)
        || (damaged.contains(level) && !isTold)
      {
        findings.note(.tile(tile), .tileIsUnfounded)
      }
    }
  }

  private func check(_ tile: TileID, _ findings: Findings) {
    guard let hashes = self[tile] else { return findings.note(.tile(tile), .tileIsMissing) }
    guard tile.level > 1 else { return }
    for (place, hash) in hashes.enumerated() {
      let below = TileID(
        level: tile.level - 1,
        index: tile.index * Int64(TileID.fullWidth) + Int64(place)
      )
      if let stored = self[below], .above(stored) != hash {
        findings.note(.tile(tile), .hashDiffers(place, below))
      }
    }
  }

  /// How many hashes a level has, of which each stands for a full tile below.
  private func hashCount(_ level: Int) -> Int64 { size >> Int64(8 * level) }
}

extension [TreeHash] {
  /// The hashes of a tile; without those that are cut off.
  init(each bytes: UnsafeRawBufferPointer) {
    self = stride(from: 0, to: bytes.count, by: 32).compactMap { start in
      TreeHash(UnsafeRawBufferPointer(rebasing: bytes[start..<Swift.min(start + 32, bytes.count)]))
    }
  }
}

extension TileID {
  /// The tile of the level above that has this tile's hash, and where.
  var parent: (tile: TileID, place: Int) {
    let width = Int64(TileID.fullWidth)
    return (TileID(level: level + 1, index: index / width), Int(index % width))
  }
}
