public import Clocks

extension Timestamp {
  /// From the binary form: microseconds since 2000-01-01T00:00:00Z.
  @inlinable
  public init(postgres value: Int64) {
    // Infinities are the ends of Int64, so the sum must not trap.
    self.init(microseconds: value &+ Timestamp.epochOffset)
  }

  /// From 1970 to 2000, where PostgreSQL's count begins.
  @usableFromInline static let epochOffset: Int64 = 946_684_800_000_000
}

extension Timestamp: Value {
  /// `timestamptz`.
  public static var oid: UInt32 { 1184 }
  /// Eight bytes.
  public func encode(into bytes: inout [UInt8]) {
    (microseconds &- Timestamp.epochOffset).encodeBigEndian(into: &bytes)
  }
}
