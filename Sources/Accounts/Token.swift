import Sodium

/// A session's secret: 256 random bits, shown once; the database holds its SHA-256.
public struct Token: Sendable {
  /// What the client sends: `jjs_` and 43 characters of Base64url.
  public let text: String

  /// What marks a user's token.
  public static let prefix = "jjs_"

  /// A new token.
  public init() {
    text = Token.prefix + Base64URL.encode(RandomBytes.make(32))
  }

  /// What is stored.
  public var digest: [UInt8] { SHA256.digest(of: text.utf8) }

  /// The digest of a presented token; nil where the bytes can't be one.
  public static func digest(of presented: UnsafeRawBufferPointer) -> [UInt8]? {
    guard presented.count == 47, presented.starts(with: prefix.utf8) else { return nil }
    return SHA256.digest(of: presented)
  }
}
