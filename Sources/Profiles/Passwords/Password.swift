/// A password in Normalization Form C, ready to be hashed; printing it shows nothing of it.
public struct Password: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The password itself, spaces at its ends included.
  public let text: String

  /// UTF-8 bytes in a password, at most: more are refused, never cut off.
  public static let maximumLength = 1024

  /// The password that somebody signs in with, whatever today's policy says about it.
  ///
  /// Nil where it has more bytes than any password, or U+0000: it is wrong, and needs no hash.
  public init?(presented text: String) {
    guard let password = Password(normalising: text), !password.text.utf8.contains(0) else {
      return nil
    }
    self = password
  }

  /// The password; nil where it is too long.
  ///
  /// The first bound keeps the normalisation short: NFC shortens no text to a quarter.
  init?(normalising text: String) {
    guard text.utf8.count <= 4 * Self.maximumLength else { return nil }
    let normalised = text.nfc
    guard normalised.utf8.count <= Self.maximumLength else { return nil }
    self.text = normalised
  }

  /// Stars, however long the password is.
  public var description: String { "***" }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
