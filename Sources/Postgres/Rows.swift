public import CPostgres
public import Clocks

/// The rows of one statement's result, in binary format; owner of libpq's memory.
///
/// `@unchecked Sendable`: a result is never changed after libpq has handed it out.
public final class Rows: @unchecked Sendable {
  @usableFromInline let result: OpaquePointer?

  init(owning result: OpaquePointer?) {
    self.result = result
  }

  deinit {
    PQclear(result)
  }

  /// The number of rows.
  @inlinable public var count: Int { Int(PQntuples(result)) }

  /// How many rows a statement without a result set changed.
  public var affected: Int {
    Int(String(cString: PQcmdTuples(result))) ?? 0
  }

  /// Whether the column is null.
  @inlinable
  public func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(result, Int32(row), Int32(column)) == 1
  }

  /// The bytes of a value, valid as long as these rows; empty for a null.
  @inlinable
  public func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(result, Int32(row), Int32(column)),
      count: Int(PQgetlength(result, Int32(row), Int32(column)))
    )
  }

  /// A `smallint`, `integer` or `bigint` column as the type of that width.
  @inlinable
  public func integer<I: FixedWidthInteger>(_ row: Int, _ column: Int, as: I.Type = I.self) -> I {
    let bytes = bytes(row, column)
    guard bytes.count == MemoryLayout<I>.size else { return 0 }
    return I(bigEndian: bytes.loadUnaligned(as: I.self))
  }

  /// A one-dimensional array column of `smallint`, `integer` or `bigint`; nil for each null.
  public func integers<I: FixedWidthInteger>(_ row: Int, _ column: Int, as: I.Type) -> [I?] {
    let bytes = bytes(row, column)
    // The header of array_send: dimensions, a flag for nulls, element type, length, lower bound.
    let headerCount = 20
    guard bytes.count >= headerCount else { return [] }
    func integer<J: FixedWidthInteger>(at offset: Int, as: J.Type) -> J {
      J(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: J.self))
    }
    var offset = headerCount
    return (0..<integer(at: 12, as: Int32.self)).map { _ in
      let length = integer(at: offset, as: Int32.self)
      offset += 4
      guard length == MemoryLayout<I>.size else { return nil }
      defer { offset += Int(length) }
      return integer(at: offset, as: I.self)
    }
  }

  /// A `boolean` column.
  @inlinable
  public func bool(_ row: Int, _ column: Int) -> Bool {
    bytes(row, column).first == 1
  }

  /// A `text` column; nil for a null.
  @inlinable
  public func string(_ row: Int, _ column: Int) -> String? {
    isNull(row, column) ? nil : String(decoding: bytes(row, column), as: UTF8.self)
  }

  /// A `timestamptz` column.
  @inlinable
  public func timestamp(_ row: Int, _ column: Int) -> Timestamp {
    Timestamp(postgres: integer(row, column))
  }
}
