import Sodium

/// A private key for signed notes.
public struct NoteSigner: Sendable {
  /// The public half.
  public let verifier: NoteVerifier
  private let seed: [UInt8]
  private let key: Ed25519.PrivateKey

  /// The key that `seed` gives, with that name; nil where either is none.
  public init?(name: String, seed: [UInt8]) {
    guard let key = Ed25519.PrivateKey(seed: seed),
      let verifier = NoteVerifier(name: name, publicKey: key.publicKey)
    else { return nil }
    self.verifier = verifier
    self.seed = seed
    self.key = key
  }

  /// A new key with that name; nil where it is none.
  public static func make(name: String) -> NoteSigner? {
    NoteSigner(name: name, seed: RandomBytes.make(Ed25519.seedCount))
  }

  /// Reads `PRIVATE+KEY+<name>+<key id>+<seed>`, the form of golang.org/x/mod/sumdb/note.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "+", maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0] == "PRIVATE", parts[1] == "KEY",
      let data = Base64.decode(parts[4]), data.first == NoteVerifier.algorithm
    else { return nil }
    self.init(name: String(parts[2]), seed: Array(data.dropFirst()))
    guard verifier.keyIDText == parts[3] else { return nil }
  }

  /// The secret form of golang.org/x/mod/sumdb/note.
  public var secretText: String {
    let data = Base64.encode([NoteVerifier.algorithm] + seed)
    return "PRIVATE+KEY+\(verifier.name)+\(verifier.keyIDText)+\(data)"
  }

  /// The key's signature of `text`.
  public func sign(_ text: String) -> SignedNote.Signature {
    SignedNote.Signature(
      name: verifier.name,
      keyID: verifier.keyID,
      bytes: key.sign(Array(text.utf8))
    )
  }
}
