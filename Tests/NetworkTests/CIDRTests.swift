import Testing

@testable import Network

@Suite("A network")
struct CIDRTests {
  @Test(arguments: [
    ("10.0.0.0/8", "10.255.3.4", true), ("10.0.0.0/8", "11.0.0.0", false),
    ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
    ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false),
    ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "::1", false),
    ("fd00::/8", "fdff:1::2", true), ("fd00::/8", "fe80::1", false),
    ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
    ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("fe80::/10", "fe80::1%eth0", true),
    ("::/0", "2001:db8::1", true), ("::/0", "10.0.0.1", false), ("10.0.0.0/8", "proxy", false),
  ])
  func `holds the addresses that share its prefix`(
    _ network: String,
    _ address: String,
    _ expected: Bool
  ) throws {
    #expect([try #require(CIDR(network))].contains(address: address) == expected)
  }

  @Test(arguments: [
    "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0/8", "10.1.0.0/8",
    "fd00::/129", "fd00::1/64", "10.0.0.0/8/8", "proxy", "10.0.0.0/8 ",
  ])
  func `is refused where it is not one`(_ text: String) {
    #expect(CIDR(text) == nil)
  }

  @Test(arguments: ["10.0.0.0/8", "fd00::/8", "192.0.2.7/32"])
  func `reads as it is written`(_ text: String) {
    #expect(CIDR(text)?.description == text)
  }
}
