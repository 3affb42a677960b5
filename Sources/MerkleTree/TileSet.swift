public import Sodium

/// Tiles of a tree, or the first hashes of them, from which hashes above are computed.
public struct TileSet: Sendable {
  private var tiles: [TileID: [TreeHash]] = [:]

  /// No tiles yet.
  public init() {}

  /// The hashes that are held of `tile`; setting them holds these.
  public subscript(_ tile: TileID) -> [TreeHash]? {
    get { tiles[tile] }
    set { tiles[tile] = newValue }
  }

  /// The root of the tree of the first `size` leaves; nil where a tile is missing or too short.
  public func root(ofTreeOf size: Int64) -> TreeHash? {
    guard size > 0 else { return size == 0 ? .emptyTree : nil }
    return hash(of: 0..<size)
  }

  /// The tiles that `root(ofTreeOf:)` takes.
  public static func needed(forRootOf size: Int64) -> Set<TileID> {
    size > 0 ? needed(for: [0..<size]) : []
  }

  /// The hash over a range of leaves that a proof names.
  func hash(of range: Range<Int64>) -> TreeHash? {
    var result: TreeHash?
    for subtree in Subtree.split(range).reversed() {
      guard let hash = hash(of: subtree) else { return nil }
      result = result.map { .node(hash, $0) } ?? hash
    }
    return result
  }

  static func needed(for ranges: [Range<Int64>]) -> Set<TileID> {
    Set(ranges.flatMap(Subtree.split).map(\.tile))
  }

  private func hash(of subtree: Subtree) -> TreeHash? {
    let places = subtree.placesInTile
    guard let hashes = tiles[subtree.tile], hashes.count >= places.upperBound else { return nil }
    return .above(hashes[places])
  }
}

/// A part of the tree that is full: the `index`-th from the left of those with 2^`height` leaves.
struct Subtree {
  let height: Int
  let index: Int64

  /// The tile whose hashes it stands above.
  var tile: TileID {
    TileID(level: height / TileID.height, index: firstHash / Int64(TileID.fullWidth))
  }

  /// The places of these hashes in the tile.
  var placesInTile: Range<Int> {
    let first = Int(firstHash % Int64(TileID.fullWidth))
    return first..<first + 1 << (height % TileID.height)
  }

  private var firstHash: Int64 { index << (height % TileID.height) }

  /// The subtrees that cover `range`, from left to right; the largest come first.
  static func split(_ range: Range<Int64>) -> [Subtree] {
    var subtrees: [Subtree] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let largest = Int64.bitWidth - 1 - (range.upperBound - start).leadingZeroBitCount
      let height = min(largest, start.trailingZeroBitCount)
      subtrees.append(Subtree(height: height, index: start >> height))
      start += 1 << height
    }
    return subtrees
  }
}
