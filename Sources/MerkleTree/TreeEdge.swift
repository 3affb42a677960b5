public import Sodium

/// The right edge of a growing tree: what has to be known to add leaves and to tell the root.
///
/// These are the tiles that are not full yet, one of each level at most.
public struct TreeEdge: Equatable, Sendable {
  /// A tile that is full, and will never change.
  public typealias FullTile = (tile: TileID, hashes: [TreeHash])

  /// How many leaves the tree has.
  public private(set) var size: Int64 = 0
  /// The hashes of the tile that is not full, for each level from 0; up to 255.
  public private(set) var levels: [[TreeHash]] = []

  /// The edge of a tree without leaves.
  public init() {}

  /// The edge of a tree of `size` leaves; nil where `levels` don't have the hashes of one.
  public init?(size: Int64, levels: [[TreeHash]]) {
    guard size >= 0 else { return nil }
    for (level, hashes) in levels.enumerated() {
      let count = TileID.hashCount(level: level, inTreeOf: size)
      guard Int64(hashes.count) == count % Int64(TileID.fullWidth) else { return nil }
    }
    guard TileID.hashCount(level: levels.count, inTreeOf: size) == 0 else { return nil }
    self.size = size
    self.levels = levels
  }

  /// Adds a leaf, and hands the tiles that it fills to `fill`, from level 0 up.
  public mutating func append(_ leaf: TreeHash, _ fill: (FullTile) throws -> Void) rethrows {
    size += 1
    var hash = leaf
    var level = 0
    while true {
      if level == levels.count { levels.append([]) }
      levels[level].append(hash)
      guard levels[level].count == TileID.fullWidth else { return }
      hash = .above(levels[level])
      let index = TileID.hashCount(level: level + 1, inTreeOf: size) - 1
      try fill((TileID(level: level, index: index), levels[level]))
      levels[level].removeAll(keepingCapacity: true)
      level += 1
    }
  }

  /// The root of the tree.
  public var root: TreeHash { TreeEdge.root(levels) }

  /// The root above the right edge, whose tiles are given from level 0 up.
  static func root(_ levels: [[TreeHash]]) -> TreeHash {
    var below: TreeHash?
    for hashes in levels {
      // What stands below is less than a hash of this level, and to the right of them all.
      let row = hashes + (below.map { [$0] } ?? [])
      if !row.isEmpty { below = .above(row) }
    }
    return below ?? .emptyTree
  }
}
