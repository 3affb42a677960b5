public import Sodium

/// A hash of the tree: of a leaf, of an inner node, or of the whole.
public typealias TreeHash = SHA256.Digest

/// The hashes of RFC 6962, section 2.1.
extension SHA256.Digest {
  /// The root of a tree without leaves.
  public static let emptyTree: TreeHash = {
    var context = SHA256.Context()
    return context.finish()
  }()

  /// The hash of a leaf, which stands for `entry`.
  public static func leaf(_ entry: UnsafeRawBufferPointer) -> TreeHash {
    var context = SHA256.Context()
    context.update(0 as UInt8)
    context.update(entry)
    return context.finish()
  }

  /// The hash of a leaf, which stands for `entry`.
  public static func leaf(_ entry: [UInt8]) -> TreeHash {
    entry.withUnsafeBytes { leaf($0) }
  }

  /// The hash of the node above two others.
  public static func node(_ left: TreeHash, _ right: TreeHash) -> TreeHash {
    withUnsafeTemporaryAllocation(byteCount: 1 + 2 * SHA256.byteCount, alignment: 8) { bytes in
      bytes[0] = 1
      left.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: bytes[1...]).copyMemory(from: $0)
      }
      right.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: bytes[(1 + SHA256.byteCount)...]).copyMemory(
          from: $0
        )
      }
      return SHA256.value(of: UnsafeRawBufferPointer(bytes))
    }
  }

  /// The hash above `hashes`, which stand side by side at one height; the last one may stand for
  /// less than the others.
  public static func above(_ hashes: some RandomAccessCollection<TreeHash>) -> TreeHash {
    switch hashes.count {
    case 0: return .emptyTree
    case 1: return hashes[hashes.startIndex]
    case let count:
      let middle = hashes.index(hashes.startIndex, offsetBy: Int(largestPower(below: Int64(count))))
      return node(above(hashes[..<middle]), above(hashes[middle...]))
    }
  }
}

/// The largest power of two that is smaller than `number`, which is 2 at the least.
func largestPower(below number: Int64) -> Int64 {
  1 << (Int64.bitWidth - 1 - (number - 1).leadingZeroBitCount)
}
