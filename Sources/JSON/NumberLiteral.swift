/// A number as it stands in the text, and whether a `JSON` value keeps all of it.
struct NumberLiteral {
  let range: Range<Int>
  private let isInteger: Bool
  /// Digits from the first to the last, leading zeros and zeros at the end included.
  private let digitCount: Int

  /// The literal that begins at `start`; it ends where no number goes on.
  init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
    var index = start
    var digits = 0
    var whole = true
    scan: while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
      case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): whole = false
      case UInt8(ascii: "-"), UInt8(ascii: "+"): break
      default: break scan
      }
      index += 1
    }
    range = start..<index
    isInteger = whole
    digitCount = digits
  }

  /// Whether an `Int64` holds the integer, or the `Double` nearest to the real reads back as it.
  ///
  /// Up to 15 digits without a long exponent always do: `Double` keeps any 15 digits, and few
  /// digits can't spell an exponent out of its range.
  func isExact(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if isInteger, digitCount <= 18 { return true }
    if !isInteger, digitCount <= 15, !hasLongExponent(bytes) { return true }
    let text = String(decoding: bytes[range], as: UTF8.self)
    if isInteger { return Int64(text) != nil }
    // What is no number at all is jansson's to refuse.
    guard let value = Double(text) else { return true }
    return value.isFinite && Decimal(text) == Decimal(value.description)
  }

  /// Whether the exponent may have three digits or more, and so may leave the range of `Double`.
  private func hasLongExponent(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard
      let mark = bytes[range].firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") })
    else { return false }
    return range.upperBound - mark > 3
  }

  /// A decimal number in one form: significant digits, and the power of ten of the last.
  private struct Decimal: Equatable {
    var isNegative = false
    var digits: [UInt8] = []
    var exponent = 0

    init(_ text: String) {
      var inFraction = false
      var utf8 = Substring(text).utf8
      while let byte = utf8.popFirst() {
        switch byte {
        case UInt8(ascii: "-"): isNegative = true
        case UInt8(ascii: "."): inFraction = true
        case UInt8(ascii: "e"), UInt8(ascii: "E"):
          // An exponent too long for `Int` leaves 0: the digits decide, and then differ.
          exponent += Int(Substring(utf8)) ?? 0
          utf8 = Substring().utf8
        default:
          if inFraction { exponent -= 1 }
          if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte) }
        }
      }
      while digits.last == UInt8(ascii: "0") {
        digits.removeLast()
        exponent += 1
      }
      if digits.isEmpty {
        exponent = 0
        isNegative = false
      }
    }
  }
}
