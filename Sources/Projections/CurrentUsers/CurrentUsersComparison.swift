public import Postgres
public import Profiles

/// Holds the rows of `current_users` against what was folded, both in the order of their users.
///
/// The connection is the same at each call, inside one transaction.
public struct CurrentUsersComparison {
  /// What is wrong with a user's row.
  public enum Difference: Sendable {
    /// It is not what the events add up to.
    case differs
    /// There is none, though there are events.
    case isMissing
    /// There is one, and nothing in the log that it could come of.
    case isUnfounded
  }

  private var live: UserCursor

  /// Begins with the first row in `range`; nil for all.
  public init(_ range: UserRange?, _ connection: borrowing BlockingConnection) throws {
    live = try UserCursor(
      "live",
      "select \(CurrentUsers.columns) from current_users where true\(range?.condition() ?? "")",
      connection
    )
  }

  /// Compares the row of a user with `row`; `note` is told what is wrong with it, and of users
  /// before it that have no events.
  public mutating func compare(
    _ row: CurrentUserRow,
    _ connection: borrowing BlockingConnection,
    _ note: (UserID, Difference) throws -> Void
  ) throws {
    guard try live.find(row.user.id, connection, { try note($0, .isUnfounded) }) else {
      return try note(row.user.id, .isMissing)
    }
    if !row.equals(live.rows, live.index) { try note(row.user.id, .differs) }
    try live.advance(connection)
  }

  /// Leaves out the row of `user`, if there is one: there is nothing to compare it with.
  public mutating func skip(
    _ user: UserID,
    _ connection: borrowing BlockingConnection,
    _ note: (UserID, Difference) throws -> Void
  ) throws {
    if try live.find(user, connection, { try note($0, .isUnfounded) }) {
      try live.advance(connection)
    }
  }

  /// Notes the rows that are left.
  public mutating func finish(
    _ connection: borrowing BlockingConnection,
    _ note: (UserID, Difference) throws -> Void
  ) throws {
    try live.finish(connection) { try note($0, .isUnfounded) }
  }
}
