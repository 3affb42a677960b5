import Testing

@testable import Network

@Suite("A place to listen")
struct ListenAddressTests {
  @Test(arguments: [
    ("127.0.0.1:8080", "127.0.0.1:8080"), ("[::1]:0", "[::1]:0"),
    ("0.0.0.0:65535", "0.0.0.0:65535"),
    ("localhost:80", "127.0.0.1:80"), ("[::]:8080", "[::]:8080"),
  ])
  func `is an address and a port`(_ text: String, _ expected: String) {
    #expect(ListenAddress(text)?.description == expected)
  }

  @Test(arguments: [
    "", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:8080",
    "[127.0.0.1]:80", "[::1]", "example.com:80", "127.0.0.1:+80", "[fe80::1%eth0]:80",
  ])
  func `is refused otherwise`(_ text: String) {
    #expect(ListenAddress(text) == nil)
  }
}
