// A line of `copy … from stdin` in text format, field by field.
extension [UInt8] {
  /// Appends a field; what the format gives a meaning to stands behind a backslash.
  mutating func appendField(_ text: some StringProtocol) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): self += #"\\"#.utf8
      case UInt8(ascii: "\t"): self += #"\t"#.utf8
      case UInt8(ascii: "\n"): self += #"\n"#.utf8
      case UInt8(ascii: "\r"): self += #"\r"#.utf8
      default: append(byte)
      }
    }
    append(UInt8(ascii: "\t"))
  }

  /// Appends a field, a null where there is no text.
  mutating func appendField(orNull text: String?) {
    if let text {
      appendField(text)
    } else {
      self += #"\N"#.utf8
      append(UInt8(ascii: "\t"))
    }
  }

  /// Ends the line in the place of the last field's tab.
  mutating func endLine() {
    self[count - 1] = UInt8(ascii: "\n")
  }
}
