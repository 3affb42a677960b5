public import EventLog
import Postgres
public import Profiles

extension Accounts {
  /// At most `limit` users who registered after the one at `cursor`, in the filter's order.
  ///
  /// Who is found is what the directory holds, which follows the log; what is shown of them is as
  /// it is now.
  public func users(
    _ filter: UserFilter,
    after cursor: Position?,
    limit: Int
  ) async throws(AccountsError) -> [ListedUser] {
    let start: Int64 = filter.order == .newestFirst ? .max : 0
    var parameters = Parameters()
    parameters.add(cursor?.rawValue ?? start)
    parameters.add(Int64(limit))
    parameters.add(filter.status?.rawValue)
    parameters.add(filter.words.isEmpty ? nil : TextSearch.everyPrefix(filter.words))
    let statement = SQL.listUsers(
      filter.order,
      byStatus: filter.status != nil,
      byWords: !filter.words.isEmpty
    )
    let rows = try await readInBulk(statement, parameters)
    return (0..<rows.count).map { row in
      ListedUser(
        position: Position(rows.integer(row, 0)),
        user: CurrentUser(rows, row, from: 1)
      )
    }
  }

  /// The user whom `email` signs in, if they pass the filter; true to the last commit.
  public func user(
    ofEmail email: EmailAddress,
    _ filter: UserFilter
  ) async throws(AccountsError) -> CurrentUser? {
    var parameters = Parameters()
    parameters.add(email.claimKey)
    let rows = try await read(SQL.userByEmail, parameters)
    guard rows.count == 1 else { return nil }
    let user = CurrentUser(rows, 0, from: 0)
    return filter.isPassed(by: try user.decidable()) ? user : nil
  }
}
