public import EventLog
import JSON
public import Profiles

/// `directory`: one row for each user, with the words that operators search.
public enum Directory: TableProjection {
  /// The table.
  public static let name = "directory"
  /// The definition's number.
  public static let revision: Int32 = 1
  /// By the runner.
  public static let mode = ProjectionMode.following
  /// A row depends on its user's events alone.
  public static let partitioning = Partitioning.byUser

  /// The user; nil where the header tells that neither name, address nor status has changed.
  ///
  /// A type or form of a newer release is never passed over: `apply` stops at it.
  public static func key(of event: RecordedEvent) -> UserID? {
    guard event.schema == 1, let kind = Event.Kind(rawValue: event.type) else { return event.user }
    switch kind {
    case .userRegistered, .emailChanged, .userSuspended, .userReinstated, .userErased:
      return event.user
    case .profileUpdated:
      let isNamed = event.changed.contains { $0 == "firstName" || $0 == "lastName" }
      return isNamed ? event.user : nil
    case .passwordChanged, .signedIn, .signInFailed, .signedOut, .sessionsRevoked:
      return nil
    }
  }

  /// The entry with the names, address and status that `recorded` leaves; nil for a user who has been
  /// erased, to whom each event without its payload belongs.
  public static func apply(
    _ recorded: RecordedEvent,
    to row: DirectoryEntry?
  ) throws(ProjectionError) -> DirectoryEntry? {
    guard !recorded.isErased else {
      _ = try recorded.knownKind()
      return nil
    }
    let event = try recorded.readable()
    if case .userRegistered(let registration, _) = event {
      return DirectoryEntry(
        user: recorded.user,
        registeredPosition: recorded.position,
        registeredAt: recorded.recordedAt,
        email: registration.email.text,
        firstName: registration.firstName?.text,
        lastName: registration.lastName?.text,
        status: .active
      )
    }
    guard var row else {
      throw .unreadable(position: recorded.position, reason: "a user begins with \(event.type)")
    }
    switch event {
    case .profileUpdated(let changes, _):
      for change in changes {
        switch change.field {
        case .firstName: row.firstName = change.new.string
        case .lastName: row.lastName = change.new.string
        case .attribute: break
        }
      }
    case .emailChanged(_, let new, _): row.email = new.text
    case .userSuspended: row.status = .suspended
    case .userReinstated: row.status = .active
    case .userRegistered, .passwordChanged, .userErased, .signedIn, .signInFailed, .signedOut,
      .sessionsRevoked:
      break
    }
    return row
  }
}
