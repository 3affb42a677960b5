import CLinux
import Glibc

/// An IPv4 or IPv6 address.
public struct IPAddress: Hashable, Sendable {
  /// Four or sixteen bytes, in network order.
  public let bytes: [UInt8]

  /// Reads the text form; a zone (`%eth0`) is left out, and an IPv4 address that is mapped
  /// into IPv6 is the IPv4 address.
  public init?(_ text: some StringProtocol) {
    let address = String(text.prefix { $0 != "%" })
    var v4 = in_addr()
    var v6 = in6_addr()
    if inet_pton(AF_INET, address, &v4) == 1 {
      bytes = withUnsafeBytes(of: v4) { Array($0) }
    } else if inet_pton(AF_INET6, address, &v6) == 1 {
      let all = withUnsafeBytes(of: v6) { Array($0) }
      bytes = Array(all[..<12]) == Self.mappedPrefix ? Array(all[12...]) : all
    } else {
      return nil
    }
  }

  private init(v4 a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) {
    bytes = [a, b, c, d]
  }

  /// Whether it is an IPv6 address.
  public var isV6: Bool { bytes.count == 16 }

  /// 127.0.0.1.
  public static let loopback = IPAddress(v4: 127, 0, 0, 1)

  private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]
}

extension IPAddress: CustomStringConvertible {
  /// The usual text form.
  public var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    _ = bytes.withUnsafeBytes {
      inet_ntop(isV6 ? AF_INET6 : AF_INET, $0.baseAddress, &text, socklen_t(text.count))
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
