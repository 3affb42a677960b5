public import Sodium

/// That a tree has grown out of another: the old leaves are its first ones (RFC 6962, section
/// 2.1.2).
public struct ConsistencyProof: Equatable, Sendable {
  /// How many leaves the old tree has.
  public let oldSize: Int64
  /// How many leaves the new tree has.
  public let newSize: Int64
  /// The hashes that give both roots.
  public let hashes: [TreeHash]

  /// A proof as somebody gave it.
  public init(from oldSize: Int64, to newSize: Int64, hashes: [TreeHash]) {
    self.oldSize = oldSize
    self.newSize = newSize
    self.hashes = hashes
  }

  /// The proof out of `tiles`; nil where one is missing, or the new tree is the smaller one.
  public init?(from oldSize: Int64, to newSize: Int64, tiles: TileSet) {
    guard oldSize >= 0, oldSize <= newSize else { return nil }
    var hashes: [TreeHash] = []
    for range in Self.ranges(oldSize, newSize) {
      guard let hash = tiles.hash(of: range) else { return nil }
      hashes.append(hash)
    }
    self.init(from: oldSize, to: newSize, hashes: hashes)
  }

  /// The tiles that `init(from:to:tiles:)` takes.
  public static func neededTiles(from oldSize: Int64, to newSize: Int64) -> Set<TileID> {
    guard oldSize >= 0, oldSize <= newSize else { return [] }
    return TileSet.needed(for: ranges(oldSize, newSize))
  }

  /// Whether the tree with `newRoot` has grown out of the one with `oldRoot`.
  ///
  /// The steps are those of RFC 9162, section 2.1.4.2; anything grows out of the empty tree.
  public func verifies(oldRoot: TreeHash, newRoot: TreeHash) -> Bool {
    guard oldSize >= 0, oldSize <= newSize else { return false }
    if oldSize == newSize { return hashes.isEmpty && oldRoot == newRoot }
    if oldSize == 0 { return hashes.isEmpty && oldRoot == .emptyTree }
    var path = hashes[...]
    if oldSize & (oldSize - 1) == 0 { path = [oldRoot] + path }
    guard let first = path.popFirst() else { return false }
    var (node, last) = (oldSize - 1, newSize - 1)
    while node & 1 == 1 {
      node >>= 1
      last >>= 1
    }
    var (old, new) = (first, first)
    for hash in path {
      guard last > 0 else { return false }
      if node & 1 == 1 || node == last {
        old = .node(hash, old)
        new = .node(hash, new)
        while node & 1 == 0, node != 0 {
          node >>= 1
          last >>= 1
        }
      } else {
        new = .node(new, hash)
      }
      node >>= 1
      last >>= 1
    }
    return last == 0 && old == oldRoot && new == newRoot
  }

  private static func ranges(_ oldSize: Int64, _ newSize: Int64) -> [Range<Int64>] {
    guard oldSize > 0 else { return [] }
    var ranges: [Range<Int64>] = []
    var (low, high) = (Int64(0), newSize)
    while high != oldSize {
      let middle = low + largestPower(below: high - low)
      if oldSize <= middle {
        ranges.append(middle..<high)
        high = middle
      } else {
        ranges.append(low..<middle)
        low = middle
      }
    }
    // What is left of the old tree; where that is all of it, its root is known.
    if low > 0 { ranges.append(low..<high) }
    return ranges.reversed()
  }
}
