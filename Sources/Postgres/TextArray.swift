/// `text[]` as text: where arrays stand in an array they must be literals, as arrays of arrays
/// are rectangular.
public enum TextArray {
  /// The literal of `elements`: every element in quotes, which quote `"` and `\`.
  public static func literal(_ elements: [String]) -> String {
    var literal = "{"
    for (index, element) in elements.enumerated() {
      if index > 0 { literal += "," }
      literal += "\""
      for character in element.unicodeScalars {
        if character == "\"" || character == "\\" { literal += "\\" }
        literal.unicodeScalars.append(character)
      }
      literal += "\""
    }
    return literal + "}"
  }
}

extension Rows {
  /// A one-dimensional array column of `text`; nulls in it are left out.
  public func strings(_ row: Int, _ column: Int) -> [String] {
    let bytes = bytes(row, column)
    // The header of array_send: dimensions, a flag for nulls, element type, length, lower bound.
    let headerCount = 20
    guard bytes.count >= headerCount else { return [] }
    func integer(at offset: Int) -> Int {
      Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
    }
    var strings: [String] = []
    var offset = headerCount
    for _ in 0..<integer(at: 12) {
      let length = integer(at: offset)
      offset += 4
      guard length >= 0 else { continue }
      strings.append(String(decoding: bytes[offset..<offset + length], as: UTF8.self))
      offset += length
    }
    return strings
  }
}
