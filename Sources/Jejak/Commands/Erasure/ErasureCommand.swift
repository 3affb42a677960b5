import Accounts
import Postgres
import Settings

/// The command `jejak erasure export FILE`.
enum ErasureCommand: Command {
  static let names = ["erasure"]
  static let syntax = CommandSyntax(
    usage: "jejak erasure export FILE",
    summary: "Writes the list of everyone who has been erased.\n"
      + "It is for a place where no backup of the database puts it back to an earlier state. "
      + "FILE is replaced as a whole; - is standard output.",
    options: Settings.databaseOptions,
    operands: 1...2
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    guard arguments.operands[0] == "export" else {
      throw UsageError("unknown verb '\(arguments.operands[0])'; usage: \(syntax.usage)")
    }
    guard arguments.operands.count == 2 else {
      throw UsageError("missing argument; usage: \(syntax.usage)")
    }
    let path = arguments.operands[1]
    var erasures: [Erasure] = []
    try Database.withReady(Settings(arguments)) { database in
      let connection = try BlockingConnection(
        target: database.target,
        applicationName: "jejak erasure"
      )
      try Erasures.each(connection) { erasures += $0 }
    }
    if path == "-" {
      Output.write(erasures.flatMap(ErasureList.line))
    } else {
      try ErasureList(path: path).replace(with: erasures)
      Output.complain("jejak: \(erasures.count) erasures written to \(path)\n")
    }
    return .success
  }
}
