import Profiles
import Testing

private func key(_ text: String) -> String? { EmailAddress(text)?.claimKey }

@Suite("An e-mail address")
struct EmailTests {
  @Test func `is the same in any case, and shown as typed`() throws {
    let typed = try #require(EmailAddress(" Jason@Example.COM\n"))
    #expect(typed.text == "Jason@Example.COM")
    #expect(typed.claimKey == "jason@example.com")
  }

  @Test func `is the same in Unicode and in punycode`() {
    #expect(key("user@bücher.de") == "user@xn--bcher-kva.de")
    #expect(key("user@BÜCHER.de") == "user@xn--bcher-kva.de")
    #expect(key("user@bu\u{308}cher.de") == "user@xn--bcher-kva.de")
    #expect(key("user@XN--bcher-KVA.de") == "user@xn--bcher-kva.de")
    #expect(key("user@bücher。de") == "user@xn--bcher-kva.de")
  }

  @Test func `tells ß from ss`() {
    #expect(key("a@straße.de") == "a@xn--strae-oqa.de")
    #expect(key("a@strasse.de") == "a@strasse.de")
  }

  @Test func `keeps what follows a plus`() {
    #expect(key("a+b@x.com") == "a+b@x.com")
    #expect(key("a+b@x.com") != key("a@x.com"))
  }

  @Test(arguments: [
    "a@x.com", "first.last@sub.example.co.uk", "o'brien@example.com", "a_b-c=d@example.museum",
    "1@2.de", "a@xn--p1ai.xn--p1ai", "x@пример.рф",
  ])
  func `is accepted`(text: String) {
    #expect(EmailAddress(text)?.text == text)
  }

  @Test(arguments: [
    "", " ", "a", "a@", "@b.de", "a@b", "a@b@c.de", "\"a b\"@c.de", "a@[127.0.0.1]", "a@127.0.0.1",
    "ü@example.de", "a b@c.de", "a@b c.de", ".a@b.de", "a.@b.de", "a..b@c.de", "a@b..de", "a@.de",
    "a@b.de.", "a@-b.de", "a@b-.de", "a@b_c.de", "a\u{0}@b.de", "a@b.de\u{0}x", "a@xn--ü.de",
    "a@xn--a.de", "<a@b.de>", "a@b.de,c@d.de", "a@\u{202E}b.de",
  ])
  func `is refused`(text: String) {
    #expect(EmailAddress(text) == nil)
  }

  @Test func `has bounded lengths`() {
    let label = String(repeating: "d", count: 60)
    let domain = [label, label, label].joined(separator: ".")
    #expect(EmailAddress(String(repeating: "a", count: 64) + "@b.de") != nil)
    #expect(EmailAddress(String(repeating: "a", count: 65) + "@b.de") == nil)
    #expect(EmailAddress(String(repeating: "a", count: 64) + "@\(domain).de") != nil)
    #expect(EmailAddress(String(repeating: "a", count: 64) + "@\(domain).abcdef.de") == nil)
    #expect(EmailAddress("a@" + String(repeating: "d", count: 64) + ".de") == nil)
  }

  @Test(
    arguments: [
      ("a@b@c", .invalidEmail), ("  ", .required),
      (String(repeating: "a", count: 65) + "@b.de", .tooLong),
    ] as [(String, FieldError.Code)]
  )
  func `says what is wrong`(text: String, code: FieldError.Code) {
    #expect(
      codes {
        _ = try register(#"{"email":"\#(text)","password":"tea with Babbage at 5"}"#)
      } == ["/email": code]
    )
  }
}
