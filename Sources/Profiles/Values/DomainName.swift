internal import CIDN2

/// The name of a mail domain in A-labels: at least two, the last not a number.
struct DomainName {
  /// The name in lower-case ASCII.
  let ascii: String

  /// The domain that somebody typed, in any script; nil where it is no such name.
  init?(_ typed: String) {
    let lowercased = typed.asciiLowercased
    // Plain ASCII is its own A-label; the rest is for libidn2 to map, and to check.
    let isPlain = lowercased.utf8.allSatisfy { $0 < 0x80 } && !lowercased.contains("xn--")
    guard let ascii = isPlain ? lowercased : Self.aLabels(lowercased), Self.isHostName(ascii)
    else { return nil }
    self.ascii = ascii
  }

  /// UTS 46, non-transitional: ß is not ss.
  private static func aLabels(_ domain: String) -> String? {
    var result: UnsafeMutablePointer<UInt8>?
    let flags = IDN2_NONTRANSITIONAL.rawValue | IDN2_NFC_INPUT.rawValue
    let code = domain.withCString(encodedAs: UTF8.self) {
      idn2_lookup_u8($0, &result, CInt(bitPattern: flags))
    }
    defer { idn2_free(result) }
    guard code == IDN2_OK.rawValue, let result else { return nil }
    return String(decodingCString: result, as: UTF8.self).asciiLowercased
  }

  /// RFC 1123 section 2.1: letters, digits and inner hyphens, 63 bytes a label, 253 in all.
  private static func isHostName(_ name: String) -> Bool {
    let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.count >= 2, name.utf8.count <= 253 else { return false }
    let areLabels = labels.allSatisfy { label in
      (1...63).contains(label.count)
        && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
        && label.allSatisfy { isDigit($0) || isLetter($0) || $0 == UInt8(ascii: "-") }
    }
    return areLabels && !labels[labels.count - 1].allSatisfy(isDigit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
  }
}
