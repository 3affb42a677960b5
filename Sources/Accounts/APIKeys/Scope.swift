/// What an API key may be used for; these and no others.
public enum Scope: String, Hashable, Sendable, CaseIterable {
  /// Reading any user, as they are and as they were.
  case usersRead = "users:read"
  /// Changing any user.
  case usersWrite = "users:write"
  /// Reading who did what: histories and the audit across users.
  case auditRead = "audit:read"
  /// Following the log.
  case eventsRead = "events:read"
  /// Seeing the state of the read models.
  case projectionsRead = "projections:read"
  /// Rebuilding the read models.
  case projectionsWrite = "projections:write"

  /// The scope that lets its holder do this as well; nil where there is none.
  private var wider: Scope? {
    switch self {
    case .usersRead: .usersWrite
    case .projectionsRead: .projectionsWrite
    case .usersWrite, .auditRead, .eventsRead, .projectionsWrite: nil
    }
  }

  /// Whether a key with the scopes `held` may do this: writing implies reading of the same thing.
  public func isAllowed(by held: some Collection<Scope>) -> Bool {
    held.contains(self) || wider.map { held.contains($0) } ?? false
  }
}
