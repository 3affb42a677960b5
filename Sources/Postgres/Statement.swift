/// One SQL statement, prepared once on each connection under its name.
public struct Statement: Sendable {
  /// The name it is prepared under; unique among a connection's statements.
  public let name: String
  /// The text, with `$1`… for its parameters; each is cast to its type where that isn't plain.
  public let sql: String

  /// A statement of this name and text.
  public init(_ name: String, _ sql: String) {
    self.name = name
    self.sql = sql
  }
}
