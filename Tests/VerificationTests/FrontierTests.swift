import MerkleTree
import Sodium
import Testing

@testable import Verification

@Suite("A frontier")
struct FrontierTests {
  private let leaves: [TreeHash] = (0..<700).map { number in
    .leaf([UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)])
  }

  @Test func `knows the root at every size`() {
    var frontier = Frontier()
    var edge = TreeEdge()
    #expect(frontier.root == .emptyTree)
    for leaf in leaves {
      frontier.append(leaf)
      edge.append(leaf) { _ in }
      #expect(frontier.root == edge.root)
    }
  }

  @Test(arguments: [0, 4, 8]) func `takes full subtrees as it takes leaves`(height: Int) {
    let width = 1 << height
    var frontier = Frontier()
    for first in stride(from: 0, to: leaves.count - width + 1, by: width) {
      frontier.append(.above(leaves[first..<first + width]), height: height)
      #expect(frontier.size == Int64(first + width))
      #expect(frontier.root == .above(leaves[..<(first + width)]))
    }
  }
}
