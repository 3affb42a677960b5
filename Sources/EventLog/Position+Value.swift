public import Postgres

extension Position: Value {
  /// `bigint`.
  public static var oid: UInt32 { Int64.oid }

  /// Eight bytes.
  @inlinable
  public func encode(into bytes: inout [UInt8]) { rawValue.encode(into: &bytes) }
}
