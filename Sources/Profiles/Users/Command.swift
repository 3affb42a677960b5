/// What somebody wants to happen to a registered user.
public enum Command: Sendable {
  /// Set, clear or keep names and attributes.
  case updateProfile(ProfilePatch)
  /// Bring back what a former change replaced.
  case revert(Reversion)
  /// Let a new password hold, whose hash has this commitment.
  case changePassword(Commitment)
  /// Let another address sign in.
  case changeEmail(EmailAddress, isVerified: Bool)
  /// Keep the person from signing in.
  case suspend
  /// Let the person sign in again.
  case reinstate
  /// Let nothing be left that was known of the person.
  case erase
  /// Open a session: the password was right.
  case signIn(SessionID)
  /// Count a try: the password was wrong.
  case recordFailedSignIn
  /// End one session.
  case signOut(SessionID)
  /// End `count` sessions, all but the one that is kept, if any.
  case revokeSessions(count: Int, kept: SessionID?)
}

/// Why a command is not carried out; nothing has changed.
public enum Refusal: Error, Hashable, Sendable {
  /// The merged profile breaks the schema: answer 422 and list the errors.
  case invalid([FieldError])
  /// Other values stand where a former change is to be reverted: answer 409 and name the fields.
  case changedSince([ProfileField])
  /// The user is suspended: answer as if the credentials were wrong.
  case suspended
}
