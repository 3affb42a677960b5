/// One line of the table of settings: how it is named, explained and read.
struct Setting: Sendable {
  /// Which commands have it.
  enum Group: Sendable {
    /// All commands that use the database.
    case database
    /// The service alone.
    case service
  }

  /// Its name in the environment and in a settings file.
  let variable: String
  let option: CommandOption
  let group: Group
  /// The default as it is read and shown; nil where the default is to have none.
  let standard: String?
  /// What an option without an argument stands for.
  let bareValue: String
  /// What the value has to be, for the error.
  let expected: String
  /// Whether the value may hold a secret, and stays out of errors.
  let isSecret: Bool
  /// Sets the value; false where the text is not one.
  let read: @Sendable (String, inout Settings) -> Bool

  init(
    _ variable: String,
    _ flag: String,
    _ placeholder: String?,
    _ group: Group,
    standard: String? = nil,
    bareValue: String = "",
    expected: String,
    isSecret: Bool = false,
    help: String,
    read: @escaping @Sendable (String, inout Settings) -> Bool
  ) {
    self.variable = variable
    self.group = group
    self.standard = standard
    self.bareValue = bareValue
    self.expected = expected
    self.isSecret = isSecret
    self.read = read
    let note = standard.map { "\(variable), default \($0)" } ?? variable
    option = CommandOption(flag, placeholder, help: "\(help)\n[\(note)]")
  }
}
