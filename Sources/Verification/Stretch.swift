import MerkleTree

/// A part of the log that is checked position by position, aligned to tiles.
struct Stretch: Sendable {
  /// Leaves of a stretch; of this height are the subtrees that the tree's root is made of.
  static let height = 14
  static let length: Int64 = 1 << Int64(height)

  /// The first leaf, counted from 0.
  let first: Int64
  /// The one behind the last.
  let end: Int64
  /// The tree of all leaves before it, where that is known.
  let frontier: Frontier?

  /// The tiles of the leaves.
  var tiles: Range<Int64> {
    let width = Int64(TileID.fullWidth)
    return first / width..<(end + width - 1) / width
  }

  /// Lays out the stretches of a log with `length` events or leaves, whichever are more.
  static func plan(length: Int64, _ tree: StoredTree) -> [Stretch] {
    var stretches: [Stretch] = []
    var frontier: Frontier? = Frontier()
    for first in stride(from: 0, to: length, by: Int(self.length)) {
      let end = min(length, first + self.length)
      stretches.append(Stretch(first: first, end: end, frontier: frontier))
      guard end <= tree.size, end - first == self.length else { continue }
      // Of the tiles of the leaves, which nobody has read yet, the level above has the hashes.
      let width = Int64(TileID.fullWidth)
      let hashes = (first / width..<end / width).map {
        tree.parent(of: TileID(level: 0, index: $0))
      }
      let known = hashes.compactMap { $0 }
      if known.count == hashes.count {
        frontier?.append(.above(known), height: height)
      } else {
        frontier = nil
      }
    }
    return stretches
  }
}
