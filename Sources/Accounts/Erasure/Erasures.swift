public import EventLog
public import Postgres
public import Profiles

/// Erasures by a connection of one's own: for commands, and for whoever keeps the list.
public enum Erasures {
  /// Erasures that are read at a time.
  public static let pageLength: Int64 = 1_000

  /// At most `pageLength` erasures after `position`, in the order of the log.
  public static func page(
    after position: Position,
    _ connection: borrowing BlockingConnection
  ) throws -> [Erasure] {
    var parameters = Parameters()
    parameters.add(position)
    parameters.add(pageLength)
    let rows = try connection.query(
      """
      select user_id, position, erased_at from erasures
       where position > $1::bigint order by position limit $2::bigint
      """,
      parameters
    )
    return (0..<rows.count).map { row in
      Erasure(
        user: rows.identifier(row, 0),
        position: Position(rows.integer(row, 1)),
        erasedAt: rows.timestamp(row, 2)
      )
    }
  }

  /// The position of the last erasure; that of the log's start where there was none.
  public static func last(_ connection: borrowing BlockingConnection) throws -> Position {
    Position(
      try connection.query("select coalesce(max(position), 0) from erasures").integer(0, 0)
    )
  }

  /// Hands over all erasures after `position`, page by page; the last position.
  @discardableResult
  public static func each(
    after position: Position = .start,
    _ connection: borrowing BlockingConnection,
    _ body: ([Erasure]) throws -> Void
  ) throws -> Position {
    var last = position
    while true {
      let page = try page(after: last, connection)
      guard let end = page.last else { return last }
      try body(page)
      last = end.position
    }
  }

  /// Those of `users` who have events here and have not been erased, in their order.
  public static func owed(
    _ users: [UserID],
    _ connection: borrowing BlockingConnection
  ) throws -> [UserID] {
    var parameters = Parameters()
    parameters.add(array: users) { $0 }
    let rows = try connection.query(
      """
      select u.user_id from unnest($1::uuid[]) with ordinality u (user_id, n)
       where exists (select from events e where e.user_id = u.user_id)
         and not exists (select from erasures e where e.user_id = u.user_id)
       order by u.n
      """,
      parameters
    )
    return (0..<rows.count).map { rows.identifier($0, 0) }
  }

  /// Erases a user, whatever their version, and tells whether they were there until then; nil where
  /// there is no such user.
  public static func erase(
    _ user: UserID,
    by actor: Actor,
    _ connection: borrowing BlockingConnection
  ) throws -> (erasure: Erasure, isNew: Bool)? {
    let request = EraseRequest(user: user, actor: actor)
    let rows = try connection.query(EraseRequest.statement.sql, request.parameters)
    return EraseRequest.outcome(rows, of: user)
  }
}
