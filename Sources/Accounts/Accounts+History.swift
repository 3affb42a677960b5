public import EventLog
import Postgres
public import Profiles
public import Projections

extension Accounts {
  /// At most `limit` events of one stream of a user, after the version that `cursor` names.
  ///
  /// They are read from the log itself: what was answered before is among them.
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
    return EventReader.events(rows, keyring)
  }

  /// The same of those that `filter` lets through, up to the position `last`.
  public func history(
    of user: UserID,
    stream: Event.Stream,
    order: History.Order,
    filter: HistoryFilter,
    after cursor: Version?,
    upTo last: Position?,
    limit: Int
  ) async throws(AccountsError) -> [AuditedEvent] {
    let (statement, parameters) = History.page(
      of: user,
      stream: stream,
      order: order,
      filter: filter,
      after: cursor,
      upTo: last,
      limit: limit
    )
    let rows = try await readInBulk(statement, parameters)
    return AuditedEvent.all(rows, keyring)
  }

  /// The positions that the times of `query` stand for, as far as entries have been written.
  public func range(of query: AuditQuery) async throws(AccountsError) -> AuditQuery.Range {
    AuditQuery.Range(try await readInBulk(AuditQuery.rangeStatement, query.rangeParameters))
  }

  /// At most `limit` entries of `query` after the position that `cursor` names.
  public func audit(
    _ query: AuditQuery,
    in range: AuditQuery.Range,
    after cursor: Position?,
    limit: Int
  ) async throws(AccountsError) -> [AuditedEvent] {
    let (statement, parameters) = query.page(in: range, after: cursor, limit: limit)
    let rows = try await readInBulk(statement, parameters)
    return AuditedEvent.all(rows, keyring)
  }
}
