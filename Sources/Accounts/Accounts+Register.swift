import Clocks
public import EventLog
public import JSON
import Keys
import Postgres
public import Profiles

extension Accounts {
  /// Registers whoever `body` describes: `{email,password,firstName?,lastName?,attributes?}`.
  public func register(
    _ body: JSON,
    source: Source,
    receipt: (@Sendable (CurrentUser) -> Receipt)?
  ) async throws(AccountsError) -> CurrentUser {
    let registration: Registration
    let password: Password
    do {
      (registration, password) = try Registration.read(
        body,
        schema: rules.schema,
        passwords: rules.passwords,
        today: Self.today()
      )
    } catch {
      throw .invalid(error.errors)
    }
    // Told before a hash is computed; whoever comes at the same time is told by the claim.
    if try await isClaimed(registration.email) { throw .emailTaken }
    let stored = try await hashing.make(password)

    let id = UserID(at: .now())
    guard let event = User.register(registration, commitment: stored.commitment).first,
      let user = User(id: id, first: event)
    else { throw .failed("a registration has one event") }
    let pending = CurrentUser(
      id: id,
      version: user.version,
      accessVersion: user.accessVersion,
      document: user.document,
      createdAt: nil,
      updatedAt: nil,
      key: nil
    )
    let key = DataKey()
    let new = NewEvent(
      user: id,
      expected: .zero,
      key: key,
      event: event,
      actor: .user(id),
      source: source,
      document: pending.document,
      status: user.status.rawValue,
      receipt: receipt?(pending)
    )

    var claim = Parameters()
    claim.add(registration.email.claimKey)
    claim.add(id)
    var credentials = Parameters()
    credentials.add(id)
    credentials.add(stored.hash)
    credentials.add(stored.commitment.bytes)
    for _ in 0..<Self.attemptLimit {
      let keyStep = try addKey(key, of: id)
      do throws(AppendError) {
        let (_, appended) = try await transaction(
          [(SQL.claim, claim), (SQL.addCredentials, credentials), keyStep],
          then: new
        )
        return pending.committed(appended)
      } catch .taken("email_claims_pkey") {
        throw .emailTaken
      } catch .masterKeyChanged {
        try await followMasterKey(for: id)
      } catch {
        throw AccountsError(error)
      }
    }
    throw .overloaded
  }

  /// The latest date that is today anywhere: nobody's birthday is in the future where they live.
  public static func today() -> CalendarDate {
    .latestToday(unixSeconds: Timestamp.now().microseconds / 1_000_000)
  }

  private func isClaimed(_ email: EmailAddress) async throws(AccountsError) -> Bool {
    var parameters = Parameters()
    parameters.add(email.claimKey)
    return try await read(SQL.credentialsByEmail, parameters).count > 0
  }
}
