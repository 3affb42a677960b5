/// What a stranger who knows the person would try first: names, address, this product.
public struct PersonalWords: Sendable {
  /// In lower case, longest first.
  let words: [String]

  /// Shorter words occur inside good passwords by chance.
  private static let minimumLength = 3

  /// The words of this person.
  public init(email: EmailAddress?, firstName: PersonName?, lastName: PersonName?) {
    var words: Set = ["jejak"]
    if let email {
      words.insert(email.text.lowercased())
      words.insert(email.claimKey)
    }
    if let local = email?.localPart {
      words.insert(local.lowercased())
      words.formUnion(local.lowercased().split { ".+-_".contains($0) }.map(String.init))
    }
    for name in [firstName, lastName] {
      guard let text = name?.text.lowercased() else { continue }
      words.insert(text)
      words.formUnion(text.split { $0.isWhitespace || $0 == "-" }.map(String.init))
    }
    self.words = words.filter { $0.unicodeScalars.count >= Self.minimumLength }
      .sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
  }

  /// The words of this user.
  public init(_ user: User) {
    self.init(email: user.email, firstName: user.firstName, lastName: user.lastName)
  }

  /// `text`, which is in lower case, without these words.
  func removed(from text: String) -> String {
    words.reduce(text) { rest, word in rest.split(separator: word).joined() }
  }
}
