/// One long option of a command.
public struct CommandOption: Equatable, Sendable {
  /// Its name, without the dashes.
  public let name: String
  /// What stands for its argument in the help; nil where it takes none.
  public let placeholder: String?
  /// What it does, in a sentence or two.
  public let help: String

  /// An option; one without a placeholder takes no argument.
  public init(_ name: String, _ placeholder: String? = nil, help: String) {
    self.name = name
    self.placeholder = placeholder
    self.help = help
  }

  var synopsis: String { placeholder.map { "--\(name) \($0)" } ?? "--\(name)" }
}
