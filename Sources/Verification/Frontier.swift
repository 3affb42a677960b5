import MerkleTree

/// The largest full subtrees of a growing tree, from which its root is known at any size in a few
/// steps.
struct Frontier {
  /// How many leaves it has.
  private(set) var size: Int64 = 0
  /// The full subtree of each height that the size has a bit for.
  private var subtrees: [TreeHash] = .init(repeating: .emptyTree, count: Int64.bitWidth)

  /// Adds a full subtree of 2^`height` leaves, of which the size is a multiple.
  ///
  /// The result is the subtree of 2^`watched` leaves that it completes, if it does.
  @discardableResult
  mutating func append(_ hash: TreeHash, height: Int = 0, watching watched: Int? = nil) -> TreeHash?
  {
    var (hash, level) = (hash, height)
    var completed = level == watched ? hash : nil
    while size & (1 << level) != 0 {
      hash = .node(subtrees[level], hash)
      level += 1
      if level == watched { completed = hash }
    }
    subtrees[level] = hash
    size += 1 << height
    return completed
  }

  /// The root.
  var root: TreeHash {
    var root: TreeHash?
    for height in 0..<Int64.bitWidth where size & (1 << height) != 0 {
      root = root.map { .node(subtrees[height], $0) } ?? subtrees[height]
    }
    return root ?? .emptyTree
  }
}
