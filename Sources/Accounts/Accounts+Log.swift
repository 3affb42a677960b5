public import EventLog
import Postgres
public import Profiles

extension Accounts {
  /// The last position of the log.
  public func head() async throws(AccountsError) -> Position {
    Position(try await readInBulk(LogPage.headStatement, Parameters()).integer(0, 0))
  }

  /// The selected events after `position`, a page at most, and the position up to which they are
  /// all.
  public func log(
    after position: Position,
    selecting selection: LogPage.Selection
  ) async throws(AccountsError) -> (events: [(event: RecordedEvent, id: EventID)], end: Position) {
    do {
      let results = try await connections.bulk.transaction(
        LogPage.steps(after: position, selecting: selection)
      )
      return LogPage.read(results, after: position)
    } catch {
      throw AccountsError(reading: error)
    }
  }
}
