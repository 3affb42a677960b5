/// What has happened to one user.
public enum Event: Hashable, Sendable {
  case userRegistered(Registration, Commitment?)
  /// `reverts` is the version whose change this one undoes, if it does.
  case profileUpdated([FieldChange], reverts: Version? = nil)
  case emailChanged(old: EmailAddress, new: EmailAddress, isVerified: Bool)
  case passwordChanged(Commitment)
  case userSuspended
  case userReinstated
  /// The last of a user's events, which carries nothing: all that was known of them is gone.
  case userErased
  case signedIn(SessionID)
  case signInFailed
  case signedOut(SessionID)
  case sessionsRevoked(count: Int, kept: SessionID?)

  /// Which of a user's two streams carries an event; the raw value is what the database keeps.
  public enum Stream: Int16, Hashable, Sendable, CaseIterable {
    /// Moves the ETag.
    case profile = 1
    /// Never moves the ETag.
    case access = 2

    /// The word that the history uses.
    public var name: String {
      switch self {
      case .profile: "profile"
      case .access: "access"
      }
    }
  }

  /// The stream that carries this event.
  public var stream: Stream {
    switch self {
    case .userRegistered, .profileUpdated, .emailChanged, .passwordChanged, .userSuspended,
      .userReinstated, .userErased:
      .profile
    case .signedIn, .signInFailed, .signedOut, .sessionsRevoked:
      .access
    }
  }

  /// What happened, without the particulars; the raw value is the name in the log.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case userRegistered = "UserRegistered"
    case profileUpdated = "ProfileUpdated"
    case emailChanged = "EmailChanged"
    case passwordChanged = "PasswordChanged"
    case userSuspended = "UserSuspended"
    case userReinstated = "UserReinstated"
    case userErased = "UserErased"
    case signedIn = "SignedIn"
    case signInFailed = "SignInFailed"
    case signedOut = "SignedOut"
    case sessionsRevoked = "SessionsRevoked"
  }

  /// What happened, without the particulars.
  public var kind: Kind {
    switch self {
    case .userRegistered: .userRegistered
    case .profileUpdated: .profileUpdated
    case .emailChanged: .emailChanged
    case .passwordChanged: .passwordChanged
    case .userSuspended: .userSuspended
    case .userReinstated: .userReinstated
    case .userErased: .userErased
    case .signedIn: .signedIn
    case .signInFailed: .signInFailed
    case .signedOut: .signedOut
    case .sessionsRevoked: .sessionsRevoked
    }
  }

  /// The name under which the log keeps this event.
  public var type: String { kind.rawValue }

  /// The version of the payload's form that this release writes.
  public var schema: Int16 { 1 }

  /// The names of the fields that have changed, never their values.
  public var changedFields: [String] {
    if case .passwordChanged = self { return ["password"] }
    return recordedChanges.map(\.field)
  }

  /// What it commits to where it sets a password.
  public var commitment: Commitment? {
    switch self {
    case .userRegistered(_, let commitment): commitment
    case .passwordChanged(let commitment): commitment
    case .profileUpdated, .emailChanged, .userSuspended, .userReinstated, .userErased,
      .signedIn, .signInFailed, .signedOut, .sessionsRevoked:
      nil
    }
  }
}
