/// A command line or a setting that cannot be understood; the caller exits with status 2.
public struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// One line that names the option or the setting.
  public let description: String

  /// An error with its line.
  public init(_ description: String) {
    self.description = description
  }
}
