/// A block of addresses that begin with the same bits (RFC 4632, RFC 4291).
public struct CIDR: Hashable, Sendable {
  /// The first address of the block.
  public let network: IPAddress
  /// How many leading bits its addresses share.
  public let prefixLength: Int

  /// Reads `10.0.0.0/8`, `fd00::/8`, or a single address.
  ///
  /// Bits beyond the prefix are refused: `10.1.0.0/8` is more likely a slip than a wish.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let network = IPAddress(parts[0]) else { return nil }
    let width = network.bytes.count * 8
    var prefixLength = width
    if parts.count == 2 {
      guard parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let number = Int(parts[1]), number <= width
      else { return nil }
      prefixLength = number
    }
    self.network = network
    self.prefixLength = prefixLength
    for (index, byte) in network.bytes.enumerated() where byte & ~mask(at: index) != 0 {
      return nil
    }
  }

  /// Whether the address lies in the block; never so for one of the other family.
  public func contains(_ address: IPAddress) -> Bool {
    address.bytes.count == network.bytes.count
      && zip(address.bytes, network.bytes).enumerated().allSatisfy { index, pair in
        pair.0 & mask(at: index) == pair.1
      }
  }

  /// The bits of one byte that belong to the prefix.
  private func mask(at index: Int) -> UInt8 {
    let bits = min(max(prefixLength - index * 8, 0), 8)
    return bits == 0 ? 0 : UInt8(truncatingIfNeeded: 0xFF << (8 - bits))
  }
}

extension CIDR: CustomStringConvertible {
  /// The block as it is read.
  public var description: String { "\(network)/\(prefixLength)" }
}

extension [CIDR] {
  /// Whether any block holds the address; a text that is no address is in none.
  public func contains(address: some StringProtocol) -> Bool {
    guard let address = IPAddress(address) else { return false }
    return contains { $0.contains(address) }
  }
}
