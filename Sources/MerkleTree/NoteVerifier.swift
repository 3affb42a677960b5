import Sodium

/// A public key for signed notes: what an outsider has to have from the log's operator.
public struct NoteVerifier: Hashable, Sendable, CustomStringConvertible {
  /// The number of Ed25519 in keys.
  static let algorithm: UInt8 = 1

  /// The key's name, which for a log is its origin.
  public let name: String
  /// The number that tells keys of a name apart.
  public let keyID: UInt32
  /// The key of Ed25519.
  public let publicKey: [UInt8]

  /// The key with that name; nil where either is none.
  public init?(name: String, publicKey: [UInt8]) {
    guard Self.isName(name), publicKey.count == Ed25519.publicKeyCount else { return nil }
    self.name = name
    self.publicKey = publicKey
    let digest = SHA256.digest(of: Array(name.utf8) + [0x0A, Self.algorithm] + publicKey)
    keyID = digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
  }

  /// Reads `<name>+<key id>+<key>`, the form of golang.org/x/mod/sumdb/note.
  public init?(_ text: some StringProtocol) {
    guard let (keyID, verifier) = Self.parts(text), verifier.keyIDText == keyID else { return nil }
    self = verifier
  }

  /// Whether `text` is `<name>+<key id>+<key>`, whatever the id.
  public static func hasForm(_ text: some StringProtocol) -> Bool { parts(text) != nil }

  private static func parts(_ text: some StringProtocol) -> (keyID: String, NoteVerifier)? {
    let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let data = Base64.decode(parts[2]), data.first == algorithm,
      let verifier = Self(name: String(parts[0]), publicKey: Array(data.dropFirst()))
    else { return nil }
    return (String(parts[1]), verifier)
  }

  /// The form of golang.org/x/mod/sumdb/note.
  public var description: String {
    "\(name)+\(keyIDText)+\(Base64.encode([Self.algorithm] + publicKey))"
  }

  /// The key's number as its text forms have it: eight hexadecimal digits.
  public var keyIDText: String {
    let digits = String(keyID, radix: 16)
    return String(repeating: "0", count: 8 - digits.utf8.count) + digits
  }

  /// Whether `signature` is the key's, of `text`.
  public func verifies(_ signature: [UInt8], of text: String) -> Bool {
    Ed25519.verify(signature, of: Array(text.utf8), publicKey: publicKey)
  }

  /// Whether a key may have this name: not empty, and without spaces, plus and control characters.
  public static func isName(_ name: String) -> Bool {
    !name.isEmpty
      && name.unicodeScalars.allSatisfy {
        !$0.properties.isWhitespace && $0 != "+" && $0.value >= 0x20 && $0.value != 0x7F
      }
  }
}
