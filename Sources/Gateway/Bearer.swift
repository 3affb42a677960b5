import Accounts
import HTTP

/// Bearer tokens (RFC 6750) in `Authorization`.
enum Bearer {
  /// The digest of the token that the request brings; nil where it brings none that could be one.
  static func tokenDigest(of request: Request) -> [UInt8]? {
    guard let value = request.headerBytes("Authorization"), value.count > 7,
      value[..<6].elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }),
      value[6] == UInt8(ascii: " ")
    else { return nil }
    let token = value[6...].drop { $0 == UInt8(ascii: " ") }
    return Token.digest(of: UnsafeRawBufferPointer(rebasing: token))
  }
}
