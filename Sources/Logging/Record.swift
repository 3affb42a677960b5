/// One thing to say, and how it looks as a line.
struct Record {
  let time: String
  let level: LogLevel
  let message: String
  let fields: [(key: String, value: LogValue)]

  /// The line, without its newline.
  func line(as format: LogFormat) -> String {
    switch format {
    case .json: json
    case .text: text
    }
  }

  private var json: String {
    var line = #"{"time":"\#(time)","level":"\#(level.rawValue)","message":"#
    line += quoted(message)
    for (key, value) in fields {
      line += ",\(quoted(key)):"
      switch value {
      case .string(let string): line += quoted(string)
      // JSON has no infinity.
      case .number(let number) where !number.isFinite: line += quoted("\(number)")
      case .number(let number): line += "\(number)"
      case .integer(let integer): line += "\(integer)"
      case .boolean(let boolean): line += "\(boolean)"
      }
    }
    return line + "}"
  }

  private var text: String {
    var line = "\(time) \(level.rawValue.uppercased()) \(escaped(message))"
    for (key, value) in fields {
      line += " \(escaped(key))="
      switch value {
      case .string(let string): line += isPlain(string) ? string : quoted(string)
      case .number(let number): line += "\(number)"
      case .integer(let integer): line += "\(integer)"
      case .boolean(let boolean): line += "\(boolean)"
      }
    }
    return line
  }

  private func isPlain(_ string: String) -> Bool {
    !string.isEmpty
      && string.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D && $0 != 0x5C }
  }

  private func quoted(_ string: String) -> String { "\"\(escaped(string))\"" }

  /// `string` with everything escaped that could end a line, a string or a terminal's mind.
  private func escaped(_ string: String) -> String {
    var result = ""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.isUnsafeToShow:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

extension Unicode.Scalar {
  /// Controls, line and paragraph separators, and what turns the direction of text.
  fileprivate var isUnsafeToShow: Bool {
    switch value {
    case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
