/// What a command line said.
public struct CommandArguments: Equatable, Sendable {
  /// The options in their order; one without an argument has an empty value.
  public internal(set) var options: [(name: String, value: String)] = []
  /// What is not an option.
  public internal(set) var operands: [String] = []

  /// Whether `--help` was given.
  public var wantsHelp: Bool { has("help") }

  /// Whether the option was given.
  public func has(_ name: String) -> Bool { self[name] != nil }

  /// The last value of the option.
  public subscript(_ name: String) -> String? {
    options.last { $0.name == name }?.value
  }

  /// Compares options and operands.
  public static func == (left: Self, right: Self) -> Bool {
    left.operands == right.operands
      && left.options.elementsEqual(right.options) { $0 == $1 }
  }
}
