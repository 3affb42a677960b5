/// Where the service listens.
public struct ListenAddress: Hashable, Sendable {
  /// The address of the interface; `0.0.0.0` or `::` for all.
  public let host: IPAddress
  /// The port; 0 takes a free one.
  public let port: UInt16

  /// An address and a port.
  public init(host: IPAddress, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    var host = text[..<colon]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }),
      let port = UInt16(digits)
    else { return nil }
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    if isBracketed { host = host.dropFirst().dropLast() }
    if host == "localhost" { host = "127.0.0.1" }
    guard !host.contains("%"), host.contains(":") == isBracketed,
      let address = IPAddress(host)
    else { return nil }
    self.init(host: address, port: port)
  }
}

extension ListenAddress: CustomStringConvertible {
  /// As in a URL, with an IPv6 address in brackets.
  public var description: String { host.isV6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
