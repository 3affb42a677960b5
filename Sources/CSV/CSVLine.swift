/// One line of a CSV file (RFC 4180), whose texts no spreadsheet takes for formulas.
///
/// A text that begins with a character that starts a formula gets an apostrophe in front of it
/// (OWASP, CSV Injection); numbers stay as they are.
public struct CSVLine: Sendable {
  /// The line so far, without its end.
  private var bytes: [UInt8] = []
  private var isFirst = true

  /// A line without cells.
  public init() {}

  /// A line of these texts.
  public init(_ cells: some Sequence<String>) {
    for cell in cells { add(cell) }
  }

  /// Adds a text; nil is an empty cell, the empty text is one in quotes.
  public mutating func add(_ text: String?) {
    guard let text else { return addAsIs("") }
    guard let first = text.unicodeScalars.first else { return addAsIs("\"\"") }
    begin()
    let startsFormula = Self.formulaStarts.contains(first)
    guard startsFormula || text.utf8.contains(where: Self.needsQuotes) else {
      bytes += text.utf8
      return
    }
    bytes.append(UInt8(ascii: "\""))
    if startsFormula { bytes.append(UInt8(ascii: "'")) }
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Adds what needs no quotes and is no text: a number, an id, an instant, or nothing.
  public mutating func addAsIs(_ value: String) {
    begin()
    bytes += value.utf8
  }

  /// Appends the line with its end to `output`.
  public func write(into output: inout [UInt8]) {
    output += bytes
    output += [0x0D, 0x0A]
  }

  private mutating func begin() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
  }

  /// What a spreadsheet may take for the start of a formula, the full-width forms among it.
  private static let formulaStarts: Set<Unicode.Scalar> = [
    "=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠",
  ]

  private static func needsQuotes(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";")
      || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }
}
