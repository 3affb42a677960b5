import Sodium

/// The secret of a session or of an API key: 256 random bits, shown once; the database holds its
/// SHA-256.
public struct Token: Sendable {
  /// What a token stands for, told by its first characters.
  public enum Kind: Sendable, CaseIterable {
    /// A user's session.
    case session
    /// An operator's key.
    case apiKey

    /// What marks a token of this kind.
    public var prefix: String {
      switch self {
      case .session: "jjs_"
      case .apiKey: "jjk_"
      }
    }
  }

  /// What the client sends: four characters that mark the kind, and 43 of Base64url.
  public let text: String

  /// A new token.
  public init(_ kind: Kind = .session) {
    text = kind.prefix + Base64URL.encode(RandomBytes.make(32))
  }

  /// What is stored.
  public var digest: [UInt8] { SHA256.digest(of: text.utf8) }

  /// The digest of a presented token; nil where the bytes can't be one of this kind.
  public static func digest(
    of presented: UnsafeRawBufferPointer,
    as kind: Kind = .session
  ) -> [UInt8]? {
    guard presented.count == 47, presented.starts(with: kind.prefix.utf8) else { return nil }
    return SHA256.digest(of: presented)
  }
}
