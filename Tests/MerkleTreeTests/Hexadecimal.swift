import MerkleTree
import Sodium

/// The bytes of hexadecimal digits.
func bytes(_ digits: String) -> [UInt8] {
  var rest = Substring(digits)
  var bytes: [UInt8] = []
  while !rest.isEmpty {
    bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
    rest = rest.dropFirst(2)
  }
  return bytes
}

/// The hash of hexadecimal digits.
func hash(_ digits: String) -> TreeHash {
  TreeHash(bytes(digits)) ?? .emptyTree
}

/// Leaves, one for each number from 0.
func leaves(_ count: Int) -> [TreeHash] {
  (0..<count).map { number in TreeHash.leaf(Array("entry \(number)".utf8)) }
}

/// A tree as tiles and edge, and the roots at all sizes.
struct GrownTree {
  var tiles = TileSet()
  var edge = TreeEdge()
  var roots: [TreeHash] = [.emptyTree]

  init(_ leaves: [TreeHash]) {
    for leaf in leaves {
      edge.append(leaf) { tiles[$0.tile] = $0.hashes }
      roots.append(edge.root)
    }
    for (level, hashes) in edge.levels.enumerated() where !hashes.isEmpty {
      let index = edge.size >> (8 * (level + 1))
      tiles[TileID(level: level, index: index)] = hashes
    }
  }
}
