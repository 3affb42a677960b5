internal import CUnistring
internal import Glibc

extension String {
  /// The text in Normalization Form C (Unicode Standard Annex 15).
  var nfc: String {
    // Below U+0300, whose first byte is 0xCC, every text is in this form already.
    guard utf8.contains(where: { $0 >= 0xCC }) else { return self }
    var text = self
    return text.withUTF8 { source in
      // No text grows more than threefold (UAX 15, section 1.3), so the buffer suffices.
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: source.count * 3) { buffer in
        var count = buffer.count
        let result = u8_normalize(
          cunistring_nfc(),
          source.baseAddress,
          source.count,
          buffer.baseAddress,
          &count
        )
        defer { if result != buffer.baseAddress { free(result) } }
        precondition(result != nil, "UTF-8 that Swift has checked can be normalised")
        return String(decoding: UnsafeBufferPointer(start: result, count: count), as: UTF8.self)
      }
    }
  }

  /// The text in Normalization Form KD: everything taken apart that can be.
  var nfkd: String {
    allocating { source, count, length in
      u8_normalize(cunistring_nfkd(), source, count, nil, &length)
    }
  }

  /// The text with full case folding, of no particular language, in Normalization Form KD.
  var foldedCase: String {
    allocating { source, count, length in
      u8_casefold(source, count, nil, cunistring_nfkd(), nil, &length)
    }
  }

  /// What `convert` makes of the text in memory that it allocates.
  private func allocating(
    _ convert: (UnsafePointer<UInt8>?, Int, inout Int) -> UnsafeMutablePointer<UInt8>?
  ) -> String {
    var text = self
    return text.withUTF8 { source in
      var length = 0
      let result = convert(source.baseAddress, source.count, &length)
      defer { free(result) }
      precondition(result != nil || source.isEmpty, "UTF-8 that Swift has checked is converted")
      return String(decoding: UnsafeBufferPointer(start: result, count: length), as: UTF8.self)
    }
  }

  /// The text without white space at either end.
  var trimmed: String {
    let scalars = unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return first == scalars.startIndex && scalars.index(after: last) == scalars.endIndex
      ? self : String(scalars[first...last])
  }

  /// The text with A to Z in lower case, and nothing else touched.
  var asciiLowercased: String {
    guard utf8.contains(where: { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }) else { return self }
    return String(
      decoding: utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 },
      as: UTF8.self
    )
  }
}

extension Unicode.Scalar {
  /// U+0000 to U+001F and U+007F to U+009F.
  var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }

  /// Whether it is a code point that Unicode will never assign to a character.
  var isNoncharacter: Bool { value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(value) }

  /// Whether it turns the direction of what follows, and so can make a text look like another.
  var isBidiControl: Bool {
    (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
  }

  /// U+2028 and U+2029.
  var isLineSeparator: Bool { value == 0x2028 || value == 0x2029 }
}
