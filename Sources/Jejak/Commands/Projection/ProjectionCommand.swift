import Projections
import Settings

/// The command `jejak projection VERB [NAME]`.
enum ProjectionCommand: Command {
  static let names = ["projection"]
  static let syntax = CommandSyntax(
    usage: "jejak projection \(verbs.map(\.name).joined(separator: "|")) [NAME] [OPTION]…",
    summary: "Lists the read models, and looks after one of them, while the service goes on.\n\n"
      + verbs.map { "\($0.synopsis): \($0.help)" }.joined(separator: "\n"),
    options: [CommandOption("json", help: "Print JSON.")] + verbs.flatMap(\.options)
      + Settings.databaseOptions,
    operands: 1...2
  )

  /// What can be done, in the order in which help shows it.
  private static var verbs: [ProjectionVerb] {
    [
      .list, .rebuild, .status, .pause, .resume, .cancel, .verify, .rollback, .dropPrevious,
    ]
  }

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    guard let verb = verbs.first(where: { $0.name == arguments.operands[0] }) else {
      throw UsageError("unknown verb '\(arguments.operands[0])'; usage: \(syntax.usage)")
    }
    let name = arguments.operands.dropFirst().first
    if !verb.takesName, name != nil { throw UsageError("\(verb.name) takes no name") }
    if verb.takesName, name == nil {
      throw UsageError("missing argument; usage: jejak projection \(verb.synopsis)")
    }
    // A wrong name is told before a database is looked for.
    if let name, ReadModels.named(name) == nil {
      throw UsageError("there is no projection '\(name)'; see jejak projection list")
    }
    let settings = try Settings(arguments)
    return try Database.withReady(settings) { database in
      try verb.run(.init(target: database.target, name: name ?? "", arguments: arguments))
    }
  }
}
