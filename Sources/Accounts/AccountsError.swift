public import EventLog
public import Profiles

/// Why a command was not carried out; one case for each answer a caller gives.
public enum AccountsError: Error, Sendable {
  /// The session has ended, or never was.
  case unauthenticated
  /// Address and password don't belong to one active account.
  case invalidCredentials
  /// Fields of the request are wrong.
  case invalid([FieldError])
  /// A rule of the password change is broken: its code, and where.
  case password(FieldError.Code, FieldError)
  /// The address belongs to an account.
  case emailTaken
  /// The profile's version is not among those the request was made for; the present one is this.
  case preconditionFailed(CurrentUser)
  /// The thing named in the request doesn't exist.
  case notFound
  /// The user was there, and has been erased.
  case erased(Erasure)
  /// The profile has no such version.
  case noSuchVersion
  /// What is to be reverted is an event of this type, which can't be.
  case notRevertible(type: String)
  /// These fields have other values than the change that is to be reverted gave them.
  case changedSince([ProfileField])
  /// The event at this position can't be read by this release, and the reason.
  case unreadableEvent(Position, reason: String)
  /// The key that seals what happens to the user can't be opened, for this reason: the operator has
  /// to put a master key back.
  case keyUnavailable(UserID, reason: String)
  /// A request with this Idempotency-Key has been carried out meanwhile: give its answer.
  case receiptExists
  /// Too much waits; try again later.
  case overloaded
  /// PostgreSQL can't be reached and nothing happened; try again later.
  case unavailable
  /// PostgreSQL was lost before it answered: it may have happened.
  case outcomeUnknown
  /// The database has no number left for the event, for this reason: the operator has to mend a row.
  case exhausted(String)
  /// A defect: the words are for the log.
  case failed(String)
}
