public import Clocks
public import EventLog
import Keys
import Postgres
public import Profiles

/// A session as its user sees it.
public struct ListedSession: Sendable {
  /// Names the session; the token stays with its holder.
  public let id: SessionID
  /// When it was opened.
  public let createdAt: Timestamp
  /// When it was last used, roughly: see `SessionLifetimes.touch`.
  public let lastUsedAt: Timestamp
  /// When it ends if it isn't used.
  public let expiresAt: Timestamp
  /// The network address it was opened from.
  public let address: String?
  /// The User-Agent it was opened with.
  public let agent: String?
}

extension ListedSession {
  /// The values of `SQL.listSessions`.
  static func parameters(
    of user: UserID,
    idle: Duration,
    after cursor: SessionID?,
    limit: Int
  ) -> Parameters {
    var parameters = Parameters()
    parameters.add(user)
    parameters.add(idle)
    parameters.add(cursor)
    parameters.add(Int64(limit))
    return parameters
  }

  /// The session in row `row` of what `SQL.listSessions` found.
  init(_ rows: Rows, _ row: Int) {
    id = rows.identifier(row, 0)
    createdAt = rows.timestamp(row, 1)
    lastUsedAt = rows.timestamp(row, 2)
    expiresAt = rows.timestamp(row, 3)
    address = rows.string(row, 4)
    agent = rows.string(row, 5)
  }
}

extension Accounts {
  /// Which sessions are to end.
  public enum EndedSessions: Sendable {
    /// One; it is not found where it isn't the user's.
    case one(SessionID)
    /// All of the user's but this one.
    case allExcept(SessionID)
  }

  /// At most `limit` sessions of the user, newest first, after the one that `cursor` names.
  public func sessions(
    of user: UserID,
    after cursor: SessionID?,
    limit: Int
  ) async throws(AccountsError) -> [ListedSession] {
    let rows = try await read(
      SQL.listSessions,
      ListedSession.parameters(
        of: user,
        idle: rules.lifetimes.idle,
        after: cursor,
        limit: limit
      )
    )
    return (0..<rows.count).map { ListedSession(rows, $0) }
  }

  /// Ends sessions of `holder`'s user; their tokens are refused from the next request on.
  public func end(
    _ sessions: EndedSessions,
    of holder: Holder,
    source: Source,
    receipts: [Receipt]
  ) async throws(AccountsError) {
    var user = try await writable(holder.user)
    for _ in 0..<Self.attemptLimit {
      let found = try await find(sessions, of: holder.userID)
      let event: Event
      switch sessions {
      case .one(let id):
        guard found == [id] else { throw .notFound }
        event = .signedOut(id)
      case .allExcept(let kept):
        guard !found.isEmpty else { return try await keep(receipts, about: holder.userID) }
        event = .sessionsRevoked(count: found.count, kept: kept)
      }
      let key = try key(of: user)
      do throws(AppendError) {
        return try await end(
          found,
          of: user,
          key,
          by: holder.session,
          as: event,
          source,
          receipts
        )
      } catch .stale, .versionConflict {
        // Somebody else ended one of them, or signed in; where the acting one has ended, this throws.
        user = try await load(by: holder.session)
      } catch {
        throw AccountsError(error)
      }
    }
    throw .overloaded
  }

  private func end(
    _ found: [SessionID],
    of user: CurrentUser,
    _ key: DataKey,
    by session: SessionID,
    as event: Event,
    _ source: Source,
    _ receipts: [Receipt]
  ) async throws(AppendError) {
    var parameters = Parameters()
    parameters.add(user.id)
    parameters.add(session)
    parameters.add(array: found) { $0 }
    let new = NewEvent(
      user: user.id,
      expected: user.accessVersion,
      key: key,
      event: event,
      actor: .user(user.id),
      source: source
    )
    _ = try await transaction(
      [(SQL.endSessions, parameters)] + receipts.map { addReceipt($0, about: user.id) },
      then: new
    )
  }

  private func find(
    _ sessions: EndedSessions,
    of user: UserID
  ) async throws(AccountsError) -> [SessionID] {
    var parameters = Parameters()
    parameters.add(user)
    switch sessions {
    case .one(let id):
      parameters.add(id)
      parameters.add(SessionID?.none)
    case .allExcept(let kept):
      parameters.add(SessionID?.none)
      parameters.add(kept)
    }
    let rows = try await read(SQL.findSessions, parameters)
    return (0..<rows.count).map { rows.identifier($0, 0) }
  }
}
