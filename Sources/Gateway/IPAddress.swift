import Glibc

/// Numeric network addresses.
enum IPAddress {
  /// Whether `text` is an IPv4 or IPv6 address in numbers.
  static func isNumeric(_ text: String) -> Bool {
    var storage = in6_addr()
    return inet_pton(AF_INET, text, &storage) == 1 || inet_pton(AF_INET6, text, &storage) == 1
  }
}
