/// SHA-256 of a stored password hash: `verify` notices a hash that was swapped behind the log.
public struct Commitment: Hashable, Sendable {
  /// The 32 bytes.
  public let bytes: [UInt8]

  /// The commitment in its 32 bytes; nil for another number of bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// The commitment in its 64 hexadecimal digits; nil for anything else.
  init?(hexadecimal text: String) {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == 64, text.utf8.count == 64 else { return nil }
    bytes = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  /// 64 hexadecimal digits, in lower case.
  var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
      as: UTF8.self
    )
  }
}
