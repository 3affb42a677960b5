import EventLog
public import Postgres
public import Profiles

/// The rows of a table in the order of their users, one for each; the user is the first column.
///
/// Users are asked for in the same order. The connection is the same at each call, inside one
/// transaction.
public struct UserCursor {
  private static let fetchSize = 5_000

  private let name: String
  /// What was read; the present row is at `index`.
  public private(set) var rows: Rows
  /// Where the present row is.
  public private(set) var index = 0

  /// Begins with the first row that `query` gives; `name` is the cursor's own in its transaction.
  public init(
    _ name: String,
    _ query: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    self.name = name
    try connection.script(
      """
      set local cursor_tuple_fraction = 1;
      declare \(name) no scroll cursor for \(query) order by user_id
      """
    )
    rows = try connection.query("fetch forward \(Self.fetchSize) from \(name)")
  }

  /// Goes to the row of `id`; false where there is none.
  ///
  /// `passedOver` is told of users before it that nobody has asked for.
  public mutating func find(
    _ id: UserID,
    _ connection: borrowing BlockingConnection,
    _ passedOver: (UserID) throws -> Void
  ) throws -> Bool {
    while let user, user < id {
      try passedOver(user)
      try advance(connection)
    }
    return user == id
  }

  /// Leaves the present row behind.
  public mutating func advance(_ connection: borrowing BlockingConnection) throws {
    index += 1
    guard index == rows.count else { return }
    rows = try connection.query("fetch forward \(Self.fetchSize) from \(name)")
    index = 0
  }

  /// Tells `passedOver` of all that is left.
  public mutating func finish(
    _ connection: borrowing BlockingConnection,
    _ passedOver: (UserID) throws -> Void
  ) throws {
    while let user {
      try passedOver(user)
      try advance(connection)
    }
    try connection.script("close \(name)")
  }

  /// The user of the present row; nil after the last.
  private var user: UserID? { index < rows.count ? rows.identifier(index, 0) : nil }
}
