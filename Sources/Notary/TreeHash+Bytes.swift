public import MerkleTree
public import Sodium

extension Array where Element == TreeHash {
  /// The hashes that stand one behind the other in `bytes`; nil where something is left over.
  public init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count % SHA256.byteCount == 0 else { return nil }
    self = []
    reserveCapacity(bytes.count / SHA256.byteCount)
    for start in stride(from: 0, to: bytes.count, by: SHA256.byteCount) {
      let part = UnsafeRawBufferPointer(rebasing: bytes[start..<start + SHA256.byteCount])
      guard let hash = TreeHash(part) else { return nil }
      append(hash)
    }
  }

  /// The hashes one behind the other.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * SHA256.byteCount)
    for hash in self { hash.write(into: &bytes) }
    return bytes
  }
}
