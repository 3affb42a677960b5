public import Clocks
public import EventLog
public import Profiles

/// What operators find a user by.
public struct DirectoryEntry: Hashable, Sendable {
  /// Whose entry it is.
  public let user: UserID
  /// The position of the registration, which the lists are in the order of.
  public let registeredPosition: Position
  /// When that was.
  public let registeredAt: Timestamp
  /// The address that signs in.
  public internal(set) var email: String
  /// The first name, if one is set.
  public internal(set) var firstName: String?
  /// The last name, if one is set.
  public internal(set) var lastName: String?
  /// Whether the person may sign in.
  public internal(set) var status: User.Status

  /// The words that a search finds, in the order of their bytes.
  public var words: [String] {
    SearchWords.words(email: email, firstName: firstName, lastName: lastName)
  }
}
