import EventLog
import Postgres
import Profiles

/// Folds the events of many users, which come user by user, into their rows.
struct UserFold {
  private var row: CurrentUserRow?

  /// Folds the events in `rows`, handing over each user that is complete; `finish` gives the last.
  mutating func add(_ rows: Rows, _ complete: (CurrentUserRow) throws -> Void) throws {
    for index in 0..<rows.count {
      let event = RecordedEvent(rows, index)
      if let row, row.user.id != event.user {
        try complete(row)
        self.row = nil
      }
      row = try CurrentUserRow.apply(event, to: row)
    }
  }

  /// Hands over the last user.
  mutating func finish(_ complete: (CurrentUserRow) throws -> Void) throws {
    if let row { try complete(row) }
    row = nil
  }

  /// The order in which events must come.
  static let order = "user_id, stream, version"
}
