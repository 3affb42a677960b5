import MerkleTree
import Sodium
import Testing

@Suite("A tile")
struct TileTests {
  @Test(arguments: [
    (0, 0, 256, "0/000"), (0, 0, 1, "0/000.p/1"), (1, 999, 256, "1/999"),
    (2, 1000, 255, "2/x001/000.p/255"), (0, 1_234_067, 256, "0/x001/x234/067"),
    (63, 1_234_067, 112, "63/x001/x234/067.p/112"),
  ])
  func `has one path`(level: Int, index: Int64, width: Int, path: String) {
    let tile = TilePath(TileID(level: level, index: index), width: width)
    #expect(tile.description == path)
    #expect(TilePath(path) == tile)
  }

  @Test(arguments: [
    "", "0", "0/", "/000", "0/00", "0/0000", "00/000", "01/000", "64/000", "-1/000", "+1/000",
    "0/x000/000", "0/x00/000", "0/001/000", "0/x001", "0/x001/x002", "0/000.p", "0/000.p/",
    "0/000.p/0", "0/000.p/256", "0/000.p/01", "0/000.p/1/2", "0/000.q/1", "0/.p/1", "0/a00",
    "0/٣٣٣", "0/000/", "entries/000", "0/x999/x999/x999/x999/x999/x999/999", "0/X001/000",
  ])
  func `is named by no other text`(path: String) {
    #expect(TilePath(path) == nil)
  }

  /// The example of C2SP tlog-tiles: a tree of 70,000 leaves.
  @Test func `is full or partial as the size of the tree says`() {
    let size: Int64 = 70_000
    #expect(TileID(level: 0, index: 272).width(inTreeOf: size) == 256)
    #expect(TileID(level: 0, index: 273).width(inTreeOf: size) == 112)
    #expect(TileID(level: 0, index: 274).width(inTreeOf: size) == 0)
    #expect(TileID(level: 1, index: 0).width(inTreeOf: size) == 256)
    #expect(TileID(level: 1, index: 1).width(inTreeOf: size) == 17)
    #expect(TileID(level: 2, index: 0).width(inTreeOf: size) == 1)
    #expect(TileID(level: 3, index: 0).width(inTreeOf: size) == 0)
    #expect(TileID(level: 63, index: .max).width(inTreeOf: size) == 0)
    let edge = TileID.edge(ofTreeOf: size)
    #expect(edge.map(\.width) == [112, 17, 1])
    #expect(edge.map(\.tile.index) == [273, 1, 0])
    // A tree of 256 leaves: a full tile, and one hash above it.
    #expect(TileID.edge(ofTreeOf: 256).map(\.tile) == [TileID(level: 1, index: 0)])
    #expect(TileID.edge(ofTreeOf: 0).isEmpty)
  }
}

@Suite("The right edge of a tree")
struct TreeEdgeTests {
  @Test func `fills tiles in order, each with what was put into it`() {
    let all = leaves(256 * 256 + 300)
    var edge = TreeEdge()
    var filled: [TreeEdge.FullTile] = []
    for leaf in all { edge.append(leaf) { filled.append($0) } }
    let ground = filled.filter { $0.tile.level == 0 }
    #expect(ground.map(\.tile.index) == (0..<257).map { Int64($0) })
    #expect(ground.flatMap(\.hashes) == Array(all.prefix(257 * 256)))
    let above = filled.filter { $0.tile.level == 1 }
    #expect(above.map(\.tile.index) == [0])
    #expect(above.first?.hashes == ground.prefix(256).map { TreeHash.above($0.hashes) })
    #expect(edge.levels.map(\.count) == [44, 1, 1])
    #expect(edge.root == TreeHash.above(all))
  }

  @Test func `goes on from what was kept of it`() throws {
    let tree = GrownTree(leaves(600))
    var kept = try #require(TreeEdge(size: 600, levels: tree.edge.levels))
    #expect(kept == tree.edge)
    var grown = tree.edge
    for leaf in leaves(300) {
      kept.append(leaf) { _ in }
      grown.append(leaf) { _ in }
    }
    #expect(kept.root == grown.root)
  }

  @Test func `is none where hashes are missing or too many`() {
    let levels = GrownTree(leaves(600)).edge.levels
    for size in [-1, 0, 88, 344, 599, 601] as [Int64] {
      #expect(TreeEdge(size: size, levels: levels) == nil)
    }
    #expect(TreeEdge(size: 600, levels: Array(levels.dropLast())) == nil)
    #expect(TreeEdge(size: 600, levels: levels + [[.emptyTree]]) == nil)
    #expect(TreeEdge(size: 0, levels: []) == TreeEdge())
  }
}
