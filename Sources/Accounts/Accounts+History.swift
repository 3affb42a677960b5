public import EventLog
import Postgres
public import Profiles

extension Accounts {
  /// At most `limit` events of one stream of a user, after the version that `cursor` names.
  public func history(
    of user: UserID,
    stream: Event.Stream,
    order: History.Order,
    after cursor: Version?,
    limit: Int
  ) async throws(AccountsError) -> [RecordedEvent] {
    let (statement, parameters) = History.page(
      of: user,
      stream: stream,
      order: order,
      after: cursor,
      limit: limit
    )
    let rows = try await read(statement, parameters)
    return (0..<rows.count).map { RecordedEvent(rows, $0) }
  }
}
