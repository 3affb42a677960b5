import EventLog
import MerkleTree
import Postgres

/// The leaves of a stretch: as the tree has them, and as the events hash to, where that is another.
struct StretchLeaves {
  /// What was found where a leaf of the tree is due.
  enum Found: Equatable {
    /// An event that hashes to something else; nil where a column has what no event can have.
    case event(TreeHash?)
    /// Nothing.
    case nothing
  }

  private let stretch: Stretch
  private let tree: StoredTree
  /// The hashes of each tile of the leaves; nil where the database has them not.
  private var stored: [[TreeHash]?]
  /// Where the events are not those of the tree.
  private var differing: [Int64: Found] = [:]

  init(_ stretch: Stretch, _ tree: StoredTree, _ connection: borrowing BlockingConnection) throws {
    self.stretch = stretch
    self.tree = tree
    stored = stretch.tiles.map { tree[TileID(level: 0, index: $0)] }
    let rows = try connection.query(
      """
      select index, hashes from tree_tiles
       where level = 0 and index >= \(stretch.tiles.lowerBound)
         and index < \(stretch.tiles.upperBound)
      """
    )
    for row in 0..<rows.count {
      let index: Int64 = rows.integer(row, 0)
      let full = [TreeHash](each: rows.bytes(row, 1))
      let isDue = TileID(level: 0, index: index).width(inTreeOf: tree.size) == TileID.fullWidth
      if isDue, full.count == TileID.fullWidth {
        stored[Int(index - stretch.tiles.lowerBound)] = full
      }
    }
  }

  /// Holds what an event hashes to against the tree.
  mutating func compare(_ leaf: TreeHash?, at index: Int64) {
    guard index < tree.size, let hashes = stored[slot(of: index)] else { return }
    if hashes[Int(index % width)] != leaf { differing[index] = .event(leaf) }
  }

  /// There are no events where these leaves are due.
  mutating func miss(_ indices: Range<Int64>) {
    for index in indices where index < tree.size { differing[index] = .nothing }
  }

  /// Where events and tree differ, finds out which of them is wrong, and checks the roots that were
  /// signed.
  func judge(_ signed: [SignedRoot], _ findings: Findings) {
    var frontier = stretch.frontier
    for index in stretch.tiles {
      let tile = TileID(level: 0, index: index)
      let range = index * width..<index * width + Int64(tile.width(inTreeOf: tree.size))
      guard !range.isEmpty else { return }
      let parent = tree.parent(of: tile)
      guard let stored = stored[slot(of: range.lowerBound)] else {
        findings.note(.tile(tile), .tileIsMissing)
        frontier = parent.flatMap { frontier?.with($0) }
        continue
      }
      var due = signed.filter { $0.size > range.lowerBound && $0.size <= range.upperBound }[...]
      let right = judge(tile, range, stored, parent, frontier, due.last, findings)
      guard var grown = frontier else { continue }
      for hash in right {
        grown.append(hash)
        guard let next = due.first, next.size == grown.size else { continue }
        if next.root != grown.root { findings.note(.checkpoint(next.size), .rootDiffers) }
        due.removeFirst()
      }
      // What the level above has goes on from here, so that one wrong tile is told once.
      frontier = range.count == TileID.fullWidth ? parent.flatMap { frontier?.with($0) } : grown
    }
  }

  /// Notes what is wrong with a tile and its events, and gives the hashes that can be relied on.
  private func judge(
    _ tile: TileID,
    _ range: Range<Int64>,
    _ stored: [TreeHash],
    _ parent: TreeHash?,
    _ frontier: Frontier?,
    _ signed: SignedRoot?,
    _ findings: Findings
  ) -> [TreeHash] {
    let wrong = differing.keys.filter(range.contains).sorted()
    let storedHolds = parent.map { $0 == .above(stored) }
    if !wrong.isEmpty, let events = hashes(of: range, stored) {
      // On whose side are the level above, or a root that was signed?
      let eventsHold =
        parent.map { $0 == .above(events) }
        ?? signed.flatMap { root in frontier?.has(root, with: events) }
      if eventsHold == true, storedHolds != true {
        findings.note(.tile(tile), .leavesDiffer)
        return events
      }
    }
    for index in wrong where differing[index] != .nothing {
      findings.note(.position(Position(index + 1)), .leafDiffers)
    }
    if storedHolds == false {
      let (above, place) = tile.parent
      findings.note(.tile(above), .hashDiffers(place, tile))
    }
    return stored
  }

  /// What the events of a tile hash to; nil where one is missing or no event.
  private func hashes(of range: Range<Int64>, _ stored: [TreeHash]) -> [TreeHash]? {
    var hashes = stored
    for (index, found) in differing where range.contains(index) {
      guard case .event(let hash?) = found else { return nil }
      hashes[Int(index % width)] = hash
    }
    return hashes
  }

  private var width: Int64 { Int64(TileID.fullWidth) }

  private func slot(of index: Int64) -> Int { Int((index - stretch.first) / width) }
}

extension Frontier {
  /// The tree with a full tile of leaves more, whose hash is known.
  fileprivate func with(_ tile: TreeHash) -> Frontier {
    var grown = self
    grown.append(tile, height: 8)
    return grown
  }

  /// Whether the tree with the first of `leaves` has the root that was signed.
  fileprivate func has(_ signed: SignedRoot, with leaves: [TreeHash]) -> Bool {
    var grown = self
    for leaf in leaves.prefix(Int(signed.size - size)) { grown.append(leaf) }
    return grown.root == signed.root
  }
}
