import Settings

/// `jejak`, the program: reads which command is meant, and runs it.
@main
enum Main {
  static func main() {
    var arguments = Array(CommandLine.arguments.dropFirst())
    guard !arguments.isEmpty else {
      Output.complain(HelpCommand.overview)
      exit(with: .usage)
    }
    let name = arguments.removeFirst()
    guard let command = commands.first(where: { $0.names.contains(name) }) else {
      Output.complain("jejak: unknown command '\(name)'; see jejak help\n")
      exit(with: .usage)
    }
    exit(with: run(command, arguments))
  }

  /// All commands, in the order in which help shows them.
  static var commands: [any Command.Type] {
    [
      ServeCommand.self, MigrateCommand.self, ProjectionCommand.self, HistoryCommand.self,
      AuditCommand.self, VerifyCommand.self,
      UserCommand.self, ErasureCommand.self, BackupCheckCommand.self, ScrubCommand.self,
      APIKeyCommand.self, KeyCommand.self, CheckpointCommand.self, VerifyProofCommand.self,
      DatabaseURLCommand.self, VersionCommand.self,
      HelpCommand.self,
    ]
  }

  private static func run(_ command: any Command.Type, _ arguments: [String]) -> ExitStatus {
    do {
      let parsed = try command.syntax.parse(arguments)
      if parsed.wantsHelp {
        Output.write(command.syntax.help)
        return .success
      }
      return try command.run(parsed)
    } catch let error as UsageError {
      Output.complain("jejak: \(error)\n")
      return .usage
    } catch {
      Output.complain("jejak: \(error)\n")
      return .failure
    }
  }
}
