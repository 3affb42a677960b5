import EventLog
import Postgres
public import Profiles
public import Projections

extension Accounts {
  /// A user as they were at `moment`; nil where they had not registered, or have no such version.
  public func user(
    _ id: UserID,
    at moment: PastUser.Moment
  ) async throws(AccountsError) -> CurrentUser? {
    try await folds.begin()
    defer { folds.end() }
    return try await fold(PastUser(of: id, at: moment), of: id).map(CurrentUser.init)
  }

  /// What differs between two versions of a user, in either direction; nil where one of them
  /// doesn't exist.
  public func differences(
    of id: UserID,
    from old: Version,
    to new: Version
  ) async throws(AccountsError) -> [Difference]? {
    try await folds.begin()
    defer { folds.end() }
    let first = PastUser(of: id, at: .version(min(old, new)))
    guard let earlier = try await fold(first, of: id) else { return nil }
    let second = PastUser(of: id, at: .version(max(old, new)), from: earlier)
    guard let later = try await fold(second, of: id) else { return nil }
    return old < new
      ? earlier.user.differences(to: later.user) : later.user.differences(to: earlier.user)
  }

  private func fold(
    _ past: PastUser,
    of id: UserID
  ) async throws(AccountsError) -> CurrentUserRow? {
    var past = past
    while let (statement, parameters) = past.nextPage {
      let page = try await read(statement, parameters)
      do {
        try past.add(page, keyring)
      } catch {
        throw AccountsError(error)
      }
    }
    guard !past.isErased else { throw try await absence(of: id) }
    return past.isReached ? past.row : nil
  }
}

extension AccountsError {
  /// How it is answered that a user's events can't be folded.
  fileprivate init(_ error: ProjectionError) {
    if let (position, reason) = error.event {
      self = .unreadableEvent(position, reason: reason)
    } else {
      self = .failed(error.description)
    }
  }
}

extension CurrentUser {
  /// The user of a folded row.
  fileprivate init(_ row: CurrentUserRow) {
    self.init(
      id: row.user.id,
      version: row.user.version,
      accessVersion: row.user.accessVersion,
      document: row.user.document,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
      key: nil
    )
  }
}
