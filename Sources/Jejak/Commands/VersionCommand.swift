import Settings

/// The command `jejak version`.
enum VersionCommand: Command {
  /// The version of this release (Semantic Versioning 2.0.0).
  static let version = "0.1.0"

  static let names = ["version", "--version", "-V"]
  static let syntax = CommandSyntax(
    usage: "jejak version",
    summary: "Prints the version of this program."
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    Output.write("jejak \(version)\n")
    return .success
  }
}
