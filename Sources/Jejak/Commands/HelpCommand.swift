import Settings

/// The command `jejak help [COMMAND]`.
enum HelpCommand: Command {
  static let names = ["help", "--help", "-h"]
  static let syntax = CommandSyntax(
    usage: "jejak help [COMMAND]",
    summary: "Tells what the commands do, or one of them.",
    operands: 0...1
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    guard let name = arguments.operands.first else {
      Output.write(overview)
      return .success
    }
    guard let command = Main.commands.first(where: { $0.names.contains(name) }) else {
      throw UsageError("unknown command '\(name)'; see jejak help")
    }
    Output.write(command.syntax.help)
    return .success
  }

  static var overview: String {
    let rows = Main.commands.map { command in
      (command.names[0], String(command.syntax.summary.prefix { $0 != "\n" }))
    }
    let width = rows.map(\.0.count).max() ?? 0
    let lines = rows.map { name, summary in
      "  \(name)\(String(repeating: " ", count: width - name.count))  \(summary)\n"
    }
    return "Usage: jejak COMMAND [OPTION]…\n\n\(lines.joined())\n"
      + "jejak COMMAND --help tells the options of a command.\n"
  }
}
