/// The bound values of one statement, in PostgreSQL's binary format, in one buffer.
public struct Parameters: Sendable {
  /// All values, one after the other.
  @usableFromInline var bytes: [UInt8] = []
  /// Where each value ends; -1 marks a null.
  @usableFromInline var ends: [Int] = []

  /// No values yet.
  public init() {}

  /// How many values are bound.
  public var count: Int { ends.count }

  /// Binds the next parameter; nil is SQL's null.
  @inlinable
  public mutating func add<V: Value>(_ value: V?) {
    guard let value else { return ends.append(-1) }
    value.encode(into: &bytes)
    ends.append(bytes.count)
  }

  /// Binds an array: one element for each of `items`, null where `value` gives nil.
  @inlinable
  public mutating func add<Items: Collection, V: Value>(
    array items: Items,
    _ value: (Items.Element) -> V?
  ) {
    // The header of array_recv: dimensions, a flag for nulls, element type, length, lower bound.
    for field in [1, 1, Int32(bitPattern: V.oid), Int32(truncatingIfNeeded: items.count), 1] {
      field.encode(into: &bytes)
    }
    for item in items {
      guard let value = value(item) else {
        Int32(-1).encode(into: &bytes)
        continue
      }
      let start = bytes.count
      Int32(0).encode(into: &bytes)
      value.encode(into: &bytes)
      let length = Int32(truncatingIfNeeded: bytes.count - start - 4)
      withUnsafeBytes(of: length.bigEndian) { field in
        for offset in 0..<4 { bytes[start + offset] = field[offset] }
      }
    }
    ends.append(bytes.count)
  }

  /// Calls `body` with what libpq's functions take: pointers, lengths, formats.
  func withPointers<Result>(
    _ body: (
      UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> Result
  ) -> Result {
    guard !ends.isEmpty else { return body(nil, nil, nil) }
    return bytes.withUnsafeBytes { buffer in
      // An empty array may have no address; a value of no bytes needs one to differ from null.
      let base = buffer.baseAddress ?? Parameters.emptyValue
      return withUnsafeTemporaryAllocation(
        of: UnsafePointer<CChar>?.self,
        capacity: ends.count
      ) { pointers in
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: ends.count * 2) { numbers in
          var start = 0
          for (index, end) in ends.enumerated() {
            let isNull = end < 0
            pointers.initializeElement(
              at: index,
              to: isNull ? nil : (base + start).assumingMemoryBound(to: CChar.self)
            )
            numbers.initializeElement(at: index, to: isNull ? 0 : Int32(end - start))
            numbers.initializeElement(at: ends.count + index, to: 1)
            if !isNull { start = end }
          }
          guard let first = numbers.baseAddress, let values = pointers.baseAddress else {
            return body(nil, nil, nil)
          }
          return body(UnsafePointer(values), first, first + ends.count)
        }
      }
    }
  }

  /// An address for values of no bytes; never read.
  // `nonisolated(unsafe)`: the address is made once and nothing is stored there.
  private nonisolated(unsafe) static let emptyValue: UnsafeRawPointer = {
    UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
  }()
}
