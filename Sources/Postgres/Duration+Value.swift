extension Duration: Value {
  /// `interval`.
  public static var oid: UInt32 { 1186 }

  /// Microseconds, and no days and months.
  public func encode(into bytes: inout [UInt8]) {
    let (seconds, attoseconds) = components
    (seconds * 1_000_000 + attoseconds / 1_000_000_000_000).encodeBigEndian(into: &bytes)
    Int32(0).encodeBigEndian(into: &bytes)
    Int32(0).encodeBigEndian(into: &bytes)
  }
}
