import Glibc
import Settings

/// One command of the program.
protocol Command {
  /// The words that call it, the usual one first.
  static var names: [String] { get }
  /// What it takes.
  static var syntax: CommandSyntax { get }
  /// Runs it; an error is told in one line and makes the status 1, a `UsageError` 2.
  static func run(_ arguments: CommandArguments) throws -> ExitStatus
}

/// What the program tells its caller at its end.
enum ExitStatus: Int32 {
  case success = 0
  case failure = 1
  case usage = 2
}

func exit(with status: ExitStatus) -> Never {
  Glibc.exit(status.rawValue)
}

/// A failure that is told in these words.
struct CommandError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
