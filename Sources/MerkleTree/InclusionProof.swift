public import Sodium

/// That an entry is in a tree (RFC 6962, section 2.1.1).
public struct InclusionProof: Equatable, Sendable {
  /// The leaf's place, from 0.
  public let index: Int64
  /// How many leaves the tree has.
  public let size: Int64
  /// The hashes beside the path from the leaf to the root, from the leaf up.
  public let hashes: [TreeHash]

  /// A proof as somebody gave it.
  public init(index: Int64, size: Int64, hashes: [TreeHash]) {
    self.index = index
    self.size = size
    self.hashes = hashes
  }

  /// The proof out of `tiles`; nil where one is missing, or the tree has no such leaf.
  public init?(index: Int64, size: Int64, tiles: TileSet) {
    guard size > 0, (0..<size).contains(index) else { return nil }
    var hashes: [TreeHash] = []
    for range in Self.ranges(index: index, size: size) {
      guard let hash = tiles.hash(of: range) else { return nil }
      hashes.append(hash)
    }
    self.init(index: index, size: size, hashes: hashes)
  }

  /// The tiles that `init(index:size:tiles:)` takes.
  public static func neededTiles(index: Int64, size: Int64) -> Set<TileID> {
    guard size > 0, (0..<size).contains(index) else { return [] }
    return TileSet.needed(for: ranges(index: index, size: size))
  }

  /// The root that follows for a tree with this leaf; nil where the proof has not the right length.
  ///
  /// The steps are those of RFC 9162, section 2.1.3.2.
  public func root(leaf: TreeHash) -> TreeHash? {
    guard size > 0, (0..<size).contains(index) else { return nil }
    var (node, last) = (index, size - 1)
    var result = leaf
    for hash in hashes {
      guard last > 0 else { return nil }
      if node & 1 == 1 || node == last {
        result = .node(hash, result)
        while node & 1 == 0, node != 0 {
          node >>= 1
          last >>= 1
        }
      } else {
        result = .node(result, hash)
      }
      node >>= 1
      last >>= 1
    }
    return last == 0 ? result : nil
  }

  /// Whether the leaf is in the tree with this root.
  public func verifies(leaf: TreeHash, root: TreeHash) -> Bool {
    self.root(leaf: leaf) == root
  }

  private static func ranges(index: Int64, size: Int64) -> [Range<Int64>] {
    var ranges: [Range<Int64>] = []
    var (low, high) = (Int64(0), size)
    while high - low > 1 {
      let middle = low + largestPower(below: high - low)
      if index < middle {
        ranges.append(middle..<high)
        high = middle
      } else {
        ranges.append(low..<middle)
        low = middle
      }
    }
    return ranges.reversed()
  }
}
