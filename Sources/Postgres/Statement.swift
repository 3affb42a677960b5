/// One SQL statement, prepared once on each connection under its name, or planned each time.
public struct Statement: Sendable {
  /// The name it is prepared under, unique among a connection's statements; empty where it is not
  /// prepared.
  public let name: String
  /// The text, with `$1`… for its parameters; each is cast to its type where that isn't plain.
  public let sql: String

  /// A statement of this name and text.
  public init(_ name: String, _ sql: String) {
    self.name = name
    self.sql = sql
  }

  /// A statement of this text that is planned anew each time it is run; for texts that are made of
  /// parts, whose combinations are too many to prepare.
  public init(unprepared sql: String) {
    self.init("", sql)
  }
}
