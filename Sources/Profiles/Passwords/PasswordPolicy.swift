/// Which new passwords are good enough (NIST SP 800-63B-4 section 3.1.1.2, ASVS 5.0.0 6.2).
///
/// The order is: too short, too long, too common. No characters are demanded or forbidden but
/// U+0000.
public struct PasswordPolicy: Hashable, Sendable {
  /// Code points in a new password, at least.
  public let minimumLength: Int

  /// No policy may ask for less.
  public static let leastMinimumLength = 8

  /// What a service asks for that was told nothing.
  public static let standard = PasswordPolicy(uncheckedMinimumLength: 15)

  /// A policy of `minimumLength`; nil where it is out of range.
  public init?(minimumLength: Int) {
    guard (Self.leastMinimumLength...256).contains(minimumLength) else { return nil }
    self.minimumLength = minimumLength
  }

  private init(uncheckedMinimumLength: Int) {
    minimumLength = uncheckedMinimumLength
  }

  /// The password in the form that is hashed, or the first rule that it breaks.
  func accept(_ typed: String, _ person: PersonalWords) throws(Problem) -> Password {
    guard let password = Password(normalising: typed) else {
      throw Problem(
        .passwordTooLong,
        "A password has at most \(Password.maximumLength) bytes."
      )
    }
    guard !password.text.utf8.contains(0) else {
      throw Problem(.forbiddenCharacter, "U+0000 is not allowed in a password.")
    }
    let isBlank = password.text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    guard !isBlank, password.text.unicodeScalars.count >= minimumLength else {
      throw Problem(
        .passwordTooShort,
        "A password has at least \(minimumLength) characters, and not only spaces."
      )
    }
    if let reason = Self.weakness(password.text.lowercased(), person) {
      throw Problem(.passwordTooCommon, reason)
    }
    return password
  }

  private static func weakness(_ text: String, _ person: PersonalWords) -> String? {
    if CommonPasswords.contains(text) {
      return "This password is on the list of common passwords."
    }
    if isRepetition(text) {
      return "This password repeats the same few characters."
    }
    let rest = person.removed(from: text)
    if rest.utf8.count < text.utf8.count,
      rest.unicodeScalars.count < leastMinimumLength || !rest.contains(where: \.isLetter)
        || CommonPasswords.contains(rest)
    {
      return "This password is little more than your name, your address or this product's name."
    }
    return nil
  }

  /// Whether `text` is one unit of at most half its length, and at most eight bytes, over and over.
  private static func isRepetition(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return (1...8).contains { period in
      period * 2 <= bytes.count && zip(bytes, bytes.dropFirst(period)).allSatisfy(==)
    }
  }
}
