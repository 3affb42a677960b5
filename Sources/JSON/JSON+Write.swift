extension JSON {
  /// The value as compact UTF-8.
  public var bytes: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(256)
    write(into: &output)
    return output
  }

  /// Appends the value as compact UTF-8; only what RFC 8259 demands is escaped.
  ///
  /// - Precondition: every real is finite, as all that were parsed are.
  public func write(into output: inout [UInt8]) {
    switch self {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(true): output.append(contentsOf: "true".utf8)
    case .bool(false): output.append(contentsOf: "false".utf8)
    case .integer(let value): output.append(contentsOf: value.description.utf8)
    case .real(let value):
      precondition(value.isFinite, "JSON has no infinity and no NaN")
      output.append(contentsOf: value.description.utf8)
    case .string(let value): JSON.write(value, into: &output)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        element.write(into: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let object): object.write(into: &output)
    }
  }

  /// Appends `text` as a JSON string, quotes included.
  public static func write(_ text: String, into output: inout [UInt8]) {
    var text = text
    output.append(UInt8(ascii: "\""))
    text.withUTF8 { utf8 in
      var plainStart = 0
      for index in utf8.indices where needsEscape(utf8[index]) {
        output.append(contentsOf: utf8[plainStart..<index])
        writeEscaped(utf8[index], into: &output)
        plainStart = index + 1
      }
      output.append(contentsOf: utf8[plainStart...])
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func writeEscaped(_ byte: UInt8, into output: inout [UInt8]) {
    output.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
    case 0x08: output.append(UInt8(ascii: "b"))
    case 0x09: output.append(UInt8(ascii: "t"))
    case 0x0A: output.append(UInt8(ascii: "n"))
    case 0x0C: output.append(UInt8(ascii: "f"))
    case 0x0D: output.append(UInt8(ascii: "r"))
    default:
      let hex = String(byte, radix: 16)
      output.append(contentsOf: (hex.utf8.count == 1 ? "u000\(hex)" : "u00\(hex)").utf8)
    }
  }
}

extension JSONObject {
  /// Appends the object as compact UTF-8, members in their order.
  public func write(into output: inout [UInt8]) {
    output.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      JSON.write(member.key, into: &output)
      output.append(UInt8(ascii: ":"))
      member.value.write(into: &output)
    }
    output.append(UInt8(ascii: "}"))
  }
}
