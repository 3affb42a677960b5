/// A Swift value with a binary form in PostgreSQL.
public protocol Value {
  /// The type's object id in `pg_type`, which the server fixes for built-in types.
  static var oid: UInt32 { get }
  /// Appends the binary form, without its length.
  func encode(into bytes: inout [UInt8])
}

extension Bool: Value {
  /// `boolean`.
  public static var oid: UInt32 { 16 }
  /// One byte.
  @inlinable
  public func encode(into bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
}

extension FixedWidthInteger {
  /// Appends the bytes of the number, most significant first.
  @inlinable
  public func encodeBigEndian(into bytes: inout [UInt8]) {
    withUnsafeBytes(of: bigEndian) { bytes.append(contentsOf: $0) }
  }
}

extension Int16: Value {
  /// `smallint`.
  public static var oid: UInt32 { 21 }
  /// Two bytes.
  @inlinable
  public func encode(into bytes: inout [UInt8]) { encodeBigEndian(into: &bytes) }
}

extension Int32: Value {
  /// `integer`.
  public static var oid: UInt32 { 23 }
  /// Four bytes.
  @inlinable
  public func encode(into bytes: inout [UInt8]) { encodeBigEndian(into: &bytes) }
}

extension Int64: Value {
  /// `bigint`.
  public static var oid: UInt32 { 20 }
  /// Eight bytes.
  @inlinable
  public func encode(into bytes: inout [UInt8]) { encodeBigEndian(into: &bytes) }
}

extension String: Value {
  /// `text`.
  public static var oid: UInt32 { 25 }
  /// UTF-8.
  @inlinable
  public func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: utf8) }
}

extension [UInt8]: Value {
  /// `bytea`.
  public static var oid: UInt32 { 17 }
  /// The bytes themselves.
  @inlinable
  public func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: self) }
}
