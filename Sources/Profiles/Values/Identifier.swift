/// A UUID (RFC 9562) that names one `Kind` of thing and can't be mistaken for another's.
@frozen
public struct Identifier<Kind>: Hashable, Sendable {
  /// The first eight bytes, most significant first.
  public let high: UInt64
  /// The last eight bytes.
  public let low: UInt64

  /// The identifier with these halves.
  @inlinable
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A new version 7 identifier: milliseconds since 1970, then 74 random bits.
  @inlinable
  public init(
    unixMilliseconds: UInt64,
    using generator: inout some RandomNumberGenerator
  ) {
    high = unixMilliseconds << 16 | 0x7000 | generator.next() & 0x0FFF
    low = 0x8000_0000_0000_0000 | generator.next() >> 2
  }

  /// A new version 7 identifier with the system's random numbers.
  @inlinable
  public init(unixMilliseconds: UInt64) {
    var generator = SystemRandomNumberGenerator()
    self.init(unixMilliseconds: unixMilliseconds, using: &generator)
  }

  /// The identifier in its sixteen bytes; nil for another number of bytes.
  @inlinable
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The sixteen bytes, as PostgreSQL's binary format wants them.
  @inlinable public var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      for index in 0..<8 {
        buffer[index] = UInt8(truncatingIfNeeded: high >> (56 - 8 * index))
        buffer[index + 8] = UInt8(truncatingIfNeeded: low >> (56 - 8 * index))
      }
      count = 16
    }
  }
}

extension Identifier: Comparable {
  /// The order of the bytes, which for version 7 is that of their making.
  @inlinable
  public static func < (left: Identifier, right: Identifier) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}
