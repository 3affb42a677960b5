public import EventLog
public import Profiles

/// Which users an operator lists, and in which order; what is nil or empty restricts nothing.
public struct UserFilter: Sendable {
  /// The words of a query: each must begin a word of the user's names or address.
  public var words: [String]
  /// What the user must be.
  public var status: User.Status?
  /// The order of the registrations.
  public var order: History.Order

  /// The filter of these parts.
  public init(words: [String], status: User.Status?, order: History.Order) {
    self.words = words
    self.status = status
    self.order = order
  }

  /// Whether `user` passes, whatever the directory holds.
  func isPassed(by user: User) -> Bool {
    guard status == nil || status == user.status else { return false }
    let words = SearchWords.words(
      email: user.email.text,
      firstName: user.firstName?.text,
      lastName: user.lastName?.text
    )
    return SearchWords.areFound(self.words, in: words)
  }
}

/// A user in a list.
public struct ListedUser: Sendable {
  /// The position of the registration, which the list is in the order of.
  public let position: Position
  /// The user as the read model holds them now.
  public let user: CurrentUser
}
