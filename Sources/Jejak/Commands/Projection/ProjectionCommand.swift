import Projections
import Settings

/// The command `jejak projection VERB [NAME]`.
enum ProjectionCommand: Command {
  static let names = ["projection"]
  static let syntax = CommandSyntax(
    usage: "jejak projection \(verbs.map(\.name).joined(separator: "|")) [NAME] [OPTION]…",
    summary: "Lists the read models, and looks after one of them, while the service goes on.\n\n"
      + verbs.map { "\($0.synopsis): \($0.help)" }.joined(separator: "\n"),
    options: commonOptions + verbOptions + Settings.databaseOptions,
    operands: 1...2
  )

  /// What can be done, in the order in which help shows it.
  private static var verbs: [ProjectionVerb] {
    [
      .list, .rebuild, .status, .pause, .resume, .cancel, .verify, .rollback, .dropPrevious,
    ]
  }

  private static let commonOptions = [CommandOption("json", help: "Print JSON.")]

  /// The options of single verbs, each once, with the verbs that have it.
  private static var verbOptions: [CommandOption] {
    var options: [CommandOption] = []
    for option in verbs.flatMap(\.options)
    where !options.contains(where: { $0.name == option.name }) {
      let having = verbs.filter { $0.options.contains(option) }.map(\.name)
      let help = "\(option.help) For \(having.joined(separator: " and "))."
      options.append(CommandOption(option.name, option.placeholder, help: help))
    }
    return options
  }

  /// An option of another verb is refused rather than passed over.
  private static func check(_ arguments: CommandArguments, of verb: ProjectionVerb) throws {
    let known = (commonOptions + verb.options + Settings.databaseOptions).map(\.name)
    guard let wrong = arguments.options.map(\.name).first(where: { !known.contains($0) }) else {
      return
    }
    let having = verbs.filter { $0.options.contains { $0.name == wrong } }.map(\.name)
    throw UsageError(
      "projection \(verb.name) takes no --\(wrong), which is for \(having.joined(separator: " and "))"
    )
  }

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    guard let verb = verbs.first(where: { $0.name == arguments.operands[0] }) else {
      throw UsageError("unknown verb '\(arguments.operands[0])'; usage: \(syntax.usage)")
    }
    try check(arguments, of: verb)
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
      do {
        return try verb.run(.init(database: database, name: name ?? "", arguments: arguments))
      } catch let error as ProjectionError {
        guard case .busy(let name) = error else { throw error }
        throw CommandError(
          "\(error): jejak projection status \(name) tells how far it is, jejak projection cancel "
            + "\(name) ends it"
        )
      }
    }
  }
}
