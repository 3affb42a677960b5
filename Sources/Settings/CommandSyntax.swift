/// What one command takes, and the help that follows from it.
public struct CommandSyntax: Sendable {
  private static let helpWidth = 80
  private static let indentation = 6

  /// The command with its operands, such as `jejak history USER`.
  public let usage: String
  /// What the command does.
  public let summary: String
  /// The options, without `--help`, which every command has.
  public let options: [CommandOption]
  /// How many operands it takes.
  public let operands: ClosedRange<Int>

  /// A command; without `operands` it takes none.
  public init(
    usage: String,
    summary: String,
    options: [CommandOption] = [],
    operands: ClosedRange<Int> = 0...0
  ) {
    self.usage = usage
    self.summary = summary
    self.options = options
    self.operands = operands
  }

  /// Reads the arguments that follow the command's name.
  ///
  /// Operands are not counted when help is asked for.
  public func parse(_ arguments: [String]) throws(UsageError) -> CommandArguments {
    let help = CommandOption("help", help: "Show this help.")
    let parsed = try parseLongOptions(arguments, options: options + [help], usage: usage)
    if parsed.wantsHelp || operands.contains(parsed.operands.count) { return parsed }
    if let surplus = parsed.operands.dropFirst(operands.upperBound).first {
      throw UsageError("unexpected argument '\(surplus)'; usage: \(usage)")
    }
    throw UsageError("missing argument; usage: \(usage)")
  }

  /// The text of `--help`, with its last newline.
  public var help: String {
    var text = "Usage: \(usage)\n\n\(summary)\n\nOptions:\n"
    for option in options + [CommandOption("help", help: "Show this help.")] {
      text += "  \(option.synopsis)\n"
      for paragraph in option.help.split(separator: "\n") {
        for line in wrapped(paragraph, width: Self.helpWidth - Self.indentation) {
          text += String(repeating: " ", count: Self.indentation) + line + "\n"
        }
      }
    }
    return text
  }

  private func wrapped(_ text: Substring, width: Int) -> [String] {
    var lines = [""]
    for word in text.split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if line.count + 1 + word.count <= width {
        lines[lines.count - 1] = line + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
