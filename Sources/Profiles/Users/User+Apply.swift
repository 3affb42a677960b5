internal import JSON

extension User {
  /// The user that the first event of a profile begins; nil where it is no registration.
  public init?(id: UserID, first event: Event) {
    guard case .userRegistered(let registration, _) = event else { return nil }
    self.id = id
    email = registration.email
    firstName = registration.firstName
    lastName = registration.lastName
    attributes = registration.attributes
    version = Version.zero.next
  }

  /// The user that `events`, in their order, add up to; nil where they begin with no registration,
  /// and where they end with an erasure.
  public static func fold(id: UserID, _ events: some Sequence<Event>) -> User? {
    var user: User?
    for event in events {
      if user == nil {
        user = User(id: id, first: event)
        guard user != nil else { return nil }
      } else if event == .userErased {
        return nil
      } else {
        user?.apply(event)
      }
    }
    return user
  }

  /// Lets `event`, which has happened, hold; its stream's version goes up by one.
  ///
  /// After `userErased` there is no user any more: whoever keeps one lets go of it.
  public mutating func apply(_ event: Event) {
    switch event.stream {
    case .profile: version = version.next
    case .access: accessVersion = accessVersion.next
    }
    switch event {
    case .userRegistered(let registration, _):
      email = registration.email
      firstName = registration.firstName
      lastName = registration.lastName
      attributes = registration.attributes
    case .profileUpdated(let changes, _):
      for change in changes { apply(change) }
    case .emailChanged(_, let new, let isVerified):
      email = new
      emailVerified = isVerified
    case .userSuspended:
      status = .suspended
    case .userReinstated:
      status = .active
    case .passwordChanged, .userErased, .signedIn, .signInFailed, .signedOut, .sessionsRevoked:
      break
    }
  }

  private mutating func apply(_ change: FieldChange) {
    switch change.field {
    case .firstName: firstName = change.new.string.map(PersonName.init(stored:))
    case .lastName: lastName = change.new.string.map(PersonName.init(stored:))
    case .attribute(let name):
      attributes[name] = change.new.isNull ? nil : change.new
      attributes = attributes.sortedByKey()
    }
  }
}
