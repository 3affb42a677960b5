public import EventLog
import Postgres

extension Accounts {
  /// The last position of the log.
  public func head() async throws(AccountsError) -> Position {
    Position(try await readInBulk(LogPage.headStatement, Parameters()).integer(0, 0))
  }

  /// The selected events after `position`, a page at most.
  public func log(
    after position: Position,
    selecting selection: LogPage.Selection
  ) async throws(AccountsError) -> LogPage.Found {
    try await feedPages.begin()
    defer { feedPages.end() }
    do {
      let results = try await connections.bulk.transaction(
        LogPage.steps(after: position, selecting: selection)
      )
      return LogPage.read(results, after: position, keyring)
    } catch {
      throw AccountsError(reading: error)
    }
  }
}
