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

  /// An array column of `smallint`, `integer` or `bigint`; nil for each null.
  public func integers<I: FixedWidthInteger>(_ row: Int, _ column: Int, as: I.Type) -> [I?] {
    elements(row, column).map { bytes in
      guard let bytes, bytes.count == MemoryLayout<I>.size else { return nil }
      return I(bigEndian: bytes.loadUnaligned(as: I.self))
    }
  }

  /// The elements of an array column, in their order, whatever its dimensions and bounds; nil for
  /// each null.
  ///
  /// The form is that of array_send: dimensions, a flag for nulls, the element's type; for each
  /// dimension its length and lower bound; then the elements, each with its length before it.
  func elements(_ row: Int, _ column: Int) -> [UnsafeRawBufferPointer?] {
    let bytes = bytes(row, column)
    guard bytes.count >= 12 else { return [] }
    var offset = 12 + 8 * Int(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    var elements: [UnsafeRawBufferPointer?] = []
    while offset + 4 <= bytes.count {
      let length = Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
      offset += 4
      let end = offset + max(0, Int(length))
      guard end <= bytes.count else { break }
      elements.append(
        length < 0 ? nil : UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
      )
      offset = end
    }
    return elements
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
