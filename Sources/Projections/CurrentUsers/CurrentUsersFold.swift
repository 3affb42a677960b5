public import EventLog
public import Keys

/// Folds events that come user by user into what the rows of `current_users` should be.
public struct CurrentUsersFold {
  /// The order in which events must come.
  public static let order = KeyFold<CurrentUsers>.order

  private var fold: KeyFold<CurrentUsers>

  /// A fold of no events yet, of a log whose keys `keyring` opens.
  public init(_ keyring: Keyring) {
    fold = KeyFold(keyring)
  }

  /// Folds one event, handing over the row of the user before where this is another one.
  public mutating func add(
    _ event: RecordedEvent,
    _ complete: (CurrentUserRow) throws -> Void
  ) throws {
    try fold.add(event, complete)
  }

  /// The row of the last user, whose events are all there; nil where they add up to none.
  public mutating func finish() throws -> CurrentUserRow? {
    var last: CurrentUserRow?
    try fold.finish { last = $0 }
    return last
  }

  /// Forgets what came of the present user: one of their events can't be folded.
  public mutating func abandon() {
    fold.abandon()
  }
}
