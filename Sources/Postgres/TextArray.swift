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
  /// An array column of `text`, whatever its dimensions; nulls in it are left out.
  public func strings(_ row: Int, _ column: Int) -> [String] {
    elements(row, column).compactMap { bytes in
      bytes.map { String(decoding: $0, as: UTF8.self) }
    }
  }
}
