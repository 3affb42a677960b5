import Accounts
import HTTP

/// Bearer tokens (RFC 6750) in `Authorization`.
enum Bearer {
  /// The digest of the token that the request brings; nil where it brings none that could be one.
  static func tokenDigest(of request: Request, as kind: Token.Kind = .session) -> [UInt8]? {
    token(of: request).flatMap { Token.digest(of: $0, as: kind) }
  }

  /// What the request's token claims to be by its first characters; nil where that is nothing.
  static func kind(of request: Request) -> Token.Kind? {
    guard let token = token(of: request) else { return nil }
    return Token.Kind.allCases.first { token.starts(with: $0.prefix.utf8) }
  }

  /// Whether the request brings a token, whatever it looks like; other schemes bring none.
  static func isPresented(in request: Request) -> Bool { token(of: request) != nil }

  private static func token(of request: Request) -> UnsafeRawBufferPointer? {
    guard let value = request.headerBytes("Authorization"), value.count > 7,
      value[..<6].elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }),
      value[6] == UInt8(ascii: " ")
    else { return nil }
    let token = value[6...].drop { $0 == UInt8(ascii: " ") }
    return token.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: token)
  }
}
