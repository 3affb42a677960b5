/// What one look over the bytes tells before jansson, which recurses, sees them.
///
/// It knows strings, brackets and number literals, and leaves syntax to jansson.
struct Scan {
  /// Where the text goes deeper than `JSON.maximumDepth`, if it does.
  private(set) var tooDeepAt: Int?
  /// The number literals that no `JSON` holds exactly.
  private(set) var inexactNumbers: [Range<Int>] = []
  /// Whether a string may hold an escaped U+0000.
  private(set) var mentionsNUL = false

  init(_ bytes: UnsafeRawBufferPointer) {
    var index = 0
    var depth = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        index = skipString(bytes, from: index + 1)
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        guard depth <= JSON.maximumDepth else {
          tooDeepAt = index
          return
        }
        index += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth -= 1
        index += 1
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        let literal = NumberLiteral(bytes, from: index)
        if !literal.isExact(bytes) { inexactNumbers.append(literal.range) }
        index = literal.range.upperBound
      default:
        index += 1
      }
    }
  }

  /// The index behind the closing quote.
  private mutating func skipString(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var index = start
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        return index + 1
      case UInt8(ascii: "\\"):
        if bytes[index...].starts(with: #"\u0000"#.utf8) { mentionsNUL = true }
        index += 2
      default:
        index += 1
      }
    }
    return bytes.count
  }
}
