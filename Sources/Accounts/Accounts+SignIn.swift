public import Clocks
public import EventLog
import Keys
import Postgres
public import Profiles

/// A session that has just begun, or goes on under a fresh token.
public struct OpenedSession: Sendable {
  /// The session.
  public let id: SessionID
  /// Its secret, shown this once.
  public let token: Token
  /// When it was opened.
  public let createdAt: Timestamp
  /// When it ends if it isn't used.
  public let expiresAt: Timestamp
  /// Whose it is.
  public let user: CurrentUser
}

extension Accounts {
  /// Opens a session for whoever knows the password of the account with this address.
  ///
  /// Unknown, suspended and password-less accounts and wrong passwords are told by the same error
  /// after the same time: one hash is computed whatever is found.
  public func signIn(
    email: String,
    password: Password,
    source: Source,
    receipt: (@Sendable (OpenedSession) -> Receipt)?
  ) async throws(AccountsError) -> OpenedSession {
    var verified: Commitment?
    for _ in 0..<Self.attemptLimit {
      let account = try await account(email)
      // The password may be changed between the check and the session: then it is checked again.
      if verified == nil || verified != account?.stored?.commitment {
        let isRight = try await hashing.verify(password, against: account?.stored?.hash)
        verified = isRight ? account?.stored?.commitment : nil
      }
      guard let account, let stored = account.stored, verified == stored.commitment,
        account.status == .active
      else {
        if let account { noteFailure(of: account.user, source) }
        throw .invalidCredentials
      }
      let opened = open(for: account.user)
      let key = try key(of: account.user)
      do {
        try await start(opened, key, verified: stored, source, receipt)
        return opened
      } catch .stale, .versionConflict {
        // Whoever signs in at the same moment makes the next version of the same stream.
        continue
      } catch {
        throw AccountsError(error)
      }
    }
    throw .overloaded
  }

  private struct Account {
    let user: CurrentUser
    let status: User.Status?
    let stored: PasswordHashing.Stored?
  }

  private func account(_ email: String) async throws(AccountsError) -> Account? {
    // An address that can't be one is looked up too, so that it takes the same time.
    let key = EmailAddress(email)?.claimKey ?? "@"
    var parameters = Parameters()
    parameters.add(key)
    let rows = try await read(SQL.credentialsByEmail, parameters)
    guard rows.count == 1 else { return nil }
    return Account(
      user: CurrentUser(rows, 0, from: 3),
      status: User.Status(rawValue: rows.integer(0, 2)),
      stored: rows.string(0, 0).map(PasswordHashing.Stored.init(hash:))
    )
  }

  private func open(for user: CurrentUser) -> OpenedSession {
    let now = Timestamp.now()
    return OpenedSession(
      id: SessionID(at: now),
      token: Token(),
      createdAt: now,
      expiresAt: rules.lifetimes.end(of: now, openedAt: now),
      user: user
    )
  }

  private func start(
    _ opened: OpenedSession,
    _ key: DataKey,
    verified: PasswordHashing.Stored,
    _ source: Source,
    _ receipt: (@Sendable (OpenedSession) -> Receipt)?
  ) async throws(AppendError) {
    var source = source
    source.session = opened.id
    var parameters = Parameters()
    parameters.add(opened.user.id)
    parameters.add(verified.commitment.bytes)
    parameters.add(opened.id)
    parameters.add(opened.token.digest)
    parameters.add(opened.createdAt)
    parameters.add(rules.lifetimes.absolute)
    parameters.add(source.address)
    parameters.add(source.agent)
    let event = NewEvent(
      user: opened.user.id,
      expected: opened.user.accessVersion,
      key: key,
      event: .signedIn(opened.id),
      actor: .user(opened.user.id),
      source: source,
      receipt: receipt?(opened)
    )
    _ = try await transaction([(SQL.startSession, parameters)], then: event)
  }

  /// Written after the answer: an append would tell a known address from an unknown one.
  private func noteFailure(of user: CurrentUser, _ source: Source) {
    later { [self] in
      var user = user
      for _ in 0..<Self.attemptLimit {
        let event = NewEvent(
          user: user.id,
          expected: user.accessVersion,
          key: try key(of: user),
          event: .signInFailed,
          actor: .system,
          source: source
        )
        do throws(AppendError) {
          _ = try await chains.append(event)
          return
        } catch .versionConflict {
          do throws(AccountsError) {
            user = try await self.user(user.id)
          } catch .erased {
            return
          }
        }
      }
      throw AccountsError.overloaded
    }
  }
}
