public import Clocks
public import Postgres
public import Profiles

extension Identifier: Value {
  /// `uuid`.
  public static var oid: UInt32 { 2950 }

  /// Sixteen bytes.
  @inlinable
  public func encode(into bytes: inout [UInt8]) {
    high.encodeBigEndian(into: &bytes)
    low.encodeBigEndian(into: &bytes)
  }
}

extension Identifier {
  /// A new identifier that sorts by the time of its making.
  public init(at time: Timestamp) {
    self.init(unixMilliseconds: UInt64(time.microseconds / 1000))
  }
}

extension Rows {
  /// A `uuid` column; all zeros for a null.
  @inlinable
  public func identifier<Kind>(
    _ row: Int,
    _ column: Int,
    as: Identifier<Kind>.Type = Identifier<Kind>.self
  ) -> Identifier<Kind> {
    let bytes = bytes(row, column)
    guard bytes.count == 16 else { return Identifier(high: 0, low: 0) }
    return Identifier(
      high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    )
  }
}
