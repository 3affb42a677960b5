import MerkleTree
import Sodium
import Testing

/// The eight inputs of Certificate Transparency's reference tests.
private let inputs = [
  "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
].map(bytes)

private let a = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
private let b = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
private let c = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
private let d = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
private let e = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
private let f = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
private let g = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"

/// The roots of the trees of none, one, … eight of them.
private let roots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", a,
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]

@Suite("The tree of RFC 6962")
struct ReferenceTests {
  private let tree = GrownTree(inputs.map { TreeHash.leaf($0) })

  @Test func `has the known roots`() {
    #expect(tree.roots == roots.map(hash))
    for size in 0...inputs.count {
      #expect(TreeHash.above(inputs.prefix(size).map { TreeHash.leaf($0) }) == hash(roots[size]))
    }
  }

  @Test(arguments: [
    (0, 1, []), (0, 8, [b, c, d]), (5, 8, [e, f, roots[4]]), (2, 3, [roots[2]]),
    (1, 5, [a, c, e]),
  ])
  func `has the known inclusion proofs`(index: Int64, size: Int64, hashes: [String]) throws {
    let proof = try #require(InclusionProof(index: index, size: size, tiles: tree.tiles))
    #expect(proof.hashes == hashes.map(hash))
    let leaf = TreeHash.leaf(inputs[Int(index)])
    #expect(proof.verifies(leaf: leaf, root: hash(roots[Int(size)])))
  }

  @Test(arguments: [
    (1, 1, []), (1, 8, [b, c, d]), (6, 8, [g, f, roots[4]]), (2, 5, [c, e]),
  ])
  func `has the known consistency proofs`(old: Int64, new: Int64, hashes: [String]) throws {
    let proof = try #require(ConsistencyProof(from: old, to: new, tiles: tree.tiles))
    #expect(proof.hashes == hashes.map(hash))
    let (oldRoot, newRoot) = (hash(roots[Int(old)]), hash(roots[Int(new)]))
    #expect(proof.verifies(oldRoot: oldRoot, newRoot: newRoot))
  }
}
