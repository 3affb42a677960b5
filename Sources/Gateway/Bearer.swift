import Accounts
import HTTP

/// Bearer tokens (RFC 6750) in `Authorization`.
enum Bearer {
  /// The digest of the token that the request brings; nil where it brings none that could be one.
  static func tokenDigest(of request: Request) -> [UInt8]? {
    token(of: request).flatMap { Token.digest(of: $0) }
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
