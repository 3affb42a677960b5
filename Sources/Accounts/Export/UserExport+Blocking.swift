import Clocks
import EventLog
public import Keys
public import Postgres
public import Profiles

extension UserExport {
  /// Writes the export of a user, as they are in one snapshot, piece by piece.
  ///
  /// `idle` is how long a session lives without use. False where there is no such user.
  public static func write(
    _ user: UserID,
    idle: Duration,
    _ keyring: Keyring,
    _ connection: borrowing BlockingConnection,
    _ write: ([UInt8]) throws -> Void
  ) throws -> Bool {
    try connection.transaction("begin isolation level repeatable read read only") {
      var parameters = Parameters()
      parameters.add(user)
      let found = try connection.query(SQL.loadUser.sql, parameters)
      guard found.count == 1 else { return false }
      let head = Position(try connection.query(LogPage.headStatement.sql).integer(0, 0))
      var export = UserExport(of: CurrentUser(found, 0, from: 0), upTo: head, at: .now())
      for part in Part.allCases {
        export.begin(part)
        if let stream = part.stream {
          try add(stream, of: user, upTo: head, to: &export, keyring, connection, write)
        } else {
          try addSessions(of: user, idle, to: &export, connection)
        }
      }
      export.end()
      if let piece = export.take(all: true) { try write(piece) }
      return true
    }
  }

  private static func add(
    _ stream: Event.Stream,
    of user: UserID,
    upTo head: Position,
    to export: inout UserExport,
    _ keyring: Keyring,
    _ connection: borrowing BlockingConnection,
    _ write: ([UInt8]) throws -> Void
  ) throws {
    var cursor: Version?
    while true {
      let (statement, parameters) = History.page(
        of: user,
        stream: stream,
        order: .oldestFirst,
        filter: HistoryFilter(),
        after: cursor,
        upTo: head,
        limit: pageLength
      )
      let rows = try connection.query(statement.sql, parameters)
      for found in AuditedEvent.all(rows, keyring) {
        export.add(found.event)
        cursor = found.event.version
        if let piece = export.take() { try write(piece) }
      }
      guard rows.count == pageLength else { return }
    }
  }

  private static func addSessions(
    of user: UserID,
    _ idle: Duration,
    to export: inout UserExport,
    _ connection: borrowing BlockingConnection
  ) throws {
    var cursor: SessionID?
    while true {
      let rows = try connection.query(
        SQL.listSessions.sql,
        ListedSession.parameters(of: user, idle: idle, after: cursor, limit: pageLength)
      )
      for row in 0..<rows.count {
        let session = ListedSession(rows, row)
        export.add(session)
        cursor = session.id
      }
      guard rows.count == pageLength else { return }
    }
  }
}
