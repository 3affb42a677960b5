import MerkleTree
import Sodium
import Testing

/// Sizes about the places where tiles fill.
private let sizes: [Int64] = [1, 2, 3, 7, 8, 100, 255, 256, 257, 300, 511, 512, 513, 700]

private let other = hash("00")

@Suite("A proof")
struct ProofTests {
  private static let all = leaves(700)
  private static let tree = GrownTree(all)

  private var tree: GrownTree { Self.tree }

  @Test func `of inclusion holds for every leaf of a tree of any size`() throws {
    for size in sizes {
      for index in 0..<size {
        let proof = try #require(InclusionProof(index: index, size: size, tiles: tree.tiles))
        let leaf = Self.all[Int(index)]
        #expect(proof.verifies(leaf: leaf, root: tree.roots[Int(size)]))
      }
    }
  }

  @Test(arguments: [(0, 1), (0, 2), (5, 8), (299, 300), (256, 700), (699, 700)])
  func `of inclusion holds for nothing else`(index: Int64, size: Int64) throws {
    let proof = try #require(InclusionProof(index: index, size: size, tiles: tree.tiles))
    let (leaf, root) = (Self.all[Int(index)], tree.roots[Int(size)])
    #expect(!proof.verifies(leaf: other, root: root))
    #expect(!proof.verifies(leaf: leaf, root: other))
    var lists = [proof.hashes + [other], [other] + proof.hashes, proof.hashes + [root]]
    for place in proof.hashes.indices {
      var hashes = proof.hashes
      hashes[place] = other
      lists.append(hashes)
      hashes.remove(at: place)
      lists.append(hashes)
    }
    for hashes in lists {
      let wrong = InclusionProof(index: index, size: size, hashes: hashes)
      #expect(!wrong.verifies(leaf: leaf, root: root))
    }
    for wrongIndex in [index - 1, index + 1, index + size, -1] {
      let wrong = InclusionProof(index: wrongIndex, size: size, hashes: proof.hashes)
      #expect(!wrong.verifies(leaf: leaf, root: root))
    }
    for wrongSize in [0, -1, Int64.min] {
      let wrong = InclusionProof(index: index, size: wrongSize, hashes: proof.hashes)
      #expect(!wrong.verifies(leaf: leaf, root: root))
    }
  }

  @Test func `of consistency holds between any two sizes`() throws {
    for new in sizes {
      for old in 0...new {
        let proof = try #require(ConsistencyProof(from: old, to: new, tiles: tree.tiles))
        let (oldRoot, newRoot) = (tree.roots[Int(old)], tree.roots[Int(new)])
        #expect(proof.verifies(oldRoot: oldRoot, newRoot: newRoot))
      }
    }
  }

  @Test(arguments: [(1, 2), (6, 8), (8, 100), (255, 256), (256, 257), (300, 700), (512, 700)])
  func `of consistency holds for nothing else`(old: Int64, new: Int64) throws {
    let proof = try #require(ConsistencyProof(from: old, to: new, tiles: tree.tiles))
    let (oldRoot, newRoot) = (tree.roots[Int(old)], tree.roots[Int(new)])
    #expect(!proof.verifies(oldRoot: other, newRoot: newRoot))
    #expect(!proof.verifies(oldRoot: oldRoot, newRoot: other))
    #expect(!proof.verifies(oldRoot: newRoot, newRoot: oldRoot))
    var lists = [proof.hashes + [other], [other] + proof.hashes, []]
    for place in proof.hashes.indices {
      var hashes = proof.hashes
      hashes[place] = other
      lists.append(hashes)
      hashes.remove(at: place)
      lists.append(hashes)
    }
    for hashes in lists {
      let wrong = ConsistencyProof(from: old, to: new, hashes: hashes)
      #expect(!wrong.verifies(oldRoot: oldRoot, newRoot: newRoot))
    }
    for (old, new) in [(old - 1, new), (old + 1, new), (new, old), (-1, new), (old, old)] {
      let wrong = ConsistencyProof(from: old, to: new, hashes: proof.hashes)
      #expect(!wrong.verifies(oldRoot: oldRoot, newRoot: newRoot))
    }
  }

  @Test func `is made of the tiles it says it needs, and of no fewer`() throws {
    func only(_ tiles: Set<TileID>, without left: TileID? = nil) -> TileSet {
      var set = TileSet()
      for tile in tiles where tile != left { set[tile] = tree.tiles[tile] }
      return set
    }
    let inclusion = InclusionProof.neededTiles(index: 300, size: 700)
    #expect(InclusionProof(index: 300, size: 700, tiles: only(inclusion)) != nil)
    let consistency = ConsistencyProof.neededTiles(from: 300, to: 700)
    #expect(ConsistencyProof(from: 300, to: 700, tiles: only(consistency)) != nil)
    for tile in inclusion {
      let fewer = only(inclusion, without: tile)
      #expect(InclusionProof(index: 300, size: 700, tiles: fewer) == nil)
    }
    for tile in consistency {
      let fewer = only(consistency, without: tile)
      #expect(ConsistencyProof(from: 300, to: 700, tiles: fewer) == nil)
    }
    for size in [0, 1, 255, 256, 300, 700] as [Int64] {
      let needed = only(TileSet.needed(forRootOf: size))
      #expect(needed.root(ofTreeOf: size) == tree.roots[Int(size)])
    }
  }

  @Test func `of a leaf that a tree doesn't have can't be made`() {
    for (index, size) in [(0, 0), (-1, 10), (10, 10), (10, 9)] as [(Int64, Int64)] {
      #expect(InclusionProof(index: index, size: size, tiles: tree.tiles) == nil)
    }
    for (old, new) in [(-1, 3), (4, 3), (300, 900)] as [(Int64, Int64)] {
      #expect(ConsistencyProof(from: old, to: new, tiles: tree.tiles) == nil)
    }
  }
}
