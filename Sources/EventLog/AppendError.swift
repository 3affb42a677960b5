/// Why an event is not in the log, or may not be.
public enum AppendError: Error, Sendable {
  /// The user has moved on: load, decide again.
  case versionConflict
  /// A request with this Idempotency-Key has been carried out: give its answer.
  case receiptExists
  /// Too much waits to be appended: try again later.
  case overloaded
  /// PostgreSQL can't be reached, nothing was sent: try again later.
  case unavailable
  /// The connection broke: the event may be in the log. Never append it again blindly.
  case outcomeUnknown
  /// A unique value is taken, by this constraint.
  case taken(constraint: String)
  /// What the event stands on has changed (SQLSTATE JJ002): load, decide again.
  case stale
  /// The user's new key was wrapped by a master key that is no longer in use (SQLSTATE JJ004): read
  /// which one is, and wrap it anew.
  case masterKeyChanged
  /// A row that stands in the database leaves no number for the event, for this reason: its operator
  /// has to mend it.
  case exhausted(String)
  /// A defect: the words are for the log.
  case failed(String)
}
