import JSON
import Profiles
import Testing

private func named(_ name: String) throws -> ProfilePatch {
  let value = String(decoding: JSON.string(name).bytes, as: UTF8.self)
  return try patch(#"{"firstName":\#(value)}"#)
}

@Suite("A name")
struct NameTests {
  @Test(arguments: [
    "X", "O’Brien", "O'Brien", "Anne-Marie", "Bob & Sally", "SMITH/DUPONT", "李小龍", "שרה", "فاطمة",
    "👩‍👩‍👧‍👦", "😀", "<script>alert(\"1\")</script>", "Nguyễn", "a  b", "=1+1", "👨🏽‍🚀 Ada",
    String(repeating: "é", count: 100), "نام\u{200C}خانوادگی",
  ])
  func `comes back byte for byte`(name: String) throws {
    let (_, user) = try given(ada()).when(.updateProfile(named(name)))
    #expect(try #require(user.firstName).text.utf8.elementsEqual(name.utf8))
  }

  @Test func `is trimmed once and composed`() throws {
    let (_, user) = try given(ada()).when(.updateProfile(named("\u{A0} Rene\u{301}\n")))
    #expect(try #require(user.firstName).text.utf8.elementsEqual("Ren\u{E9}".utf8))
  }

  @Test(
    arguments: [
      ("", .tooShort), ("  \t", .tooShort), ("\u{200B}\u{2060}", .tooShort),
      (String(repeating: "a", count: 101), .tooLong),
      (String(repeating: "😀", count: 256), .tooLong),
      (String(repeating: "e\u{301}", count: 10_000), .tooLong), ("a\nb", .forbiddenCharacter),
      ("a\u{7F}b", .forbiddenCharacter), ("a\u{85}b", .forbiddenCharacter),
      ("a\u{202E}b", .forbiddenCharacter), ("\u{2066}ab", .forbiddenCharacter),
      ("a\u{FFFF}", .forbiddenCharacter),
      ("a\u{1FFFE}", .forbiddenCharacter), ("a\u{2028}b", .forbiddenCharacter),
    ] as [(String, FieldError.Code)]
  )
  func `is refused with its reason`(name: String, code: FieldError.Code) {
    #expect(codes { _ = try named(name) } == ["/firstName": code])
  }
}
