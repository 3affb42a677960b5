import JSON
import Profiles
import Testing

private func change(
  old: String? = "tea with Babbage at 5",
  new: String?,
  confirm: String?,
  minimum: Int = 15
) throws -> PasswordChange {
  var members = JSONObject()
  members["oldPassword"] = old.map { .string($0) } ?? .null
  members["newPassword"] = new.map { .string($0) } ?? .null
  members["confirmPassword"] = confirm.map { .string($0) } ?? .null
  return try PasswordChange.read(
    .object(members),
    policy: #require(PasswordPolicy(minimumLength: minimum)),
    person: PersonalWords(given(ada()).user)
  )
}

/// The rule that the change breaks, and the code and pointer of its error.
private func broken(_ body: () throws -> PasswordChange) -> [String] {
  do {
    _ = try body()
  } catch PasswordChange.Refusal.rule(let code, let error) {
    return [code.rawValue, error.code.rawValue, error.pointer.description]
  } catch {
    Issue.record(error)
  }
  return []
}

@Suite("Changing a password")
struct PasswordChangeTests {
  let good = "an engine of brass"

  @Test func `needs the old one first`() {
    for old in [nil, ""] {
      #expect(
        broken { try change(old: old, new: nil, confirm: nil) } == [
          "old-password-required", "old-password-required", "/oldPassword",
        ]
      )
    }
  }

  @Test(arguments: [nil, "", "   ", "\u{2003}                      "])
  func `needs a new one that is not blank`(new: String?) {
    #expect(
      broken { try change(new: new, confirm: new) } == [
        "new-password-required", "new-password-required", "/newPassword",
      ]
    )
  }

  @Test func `tells equal, unconfirmed and missing apart`() {
    #expect(
      broken { try change(new: "tea with Babbage at 5", confirm: "other") } == [
        "same-password", "same-password", "/newPassword",
      ]
    )
    #expect(
      broken {
        try change(old: "caf\u{E9} au lait, twice", new: "cafe\u{301} au lait, twice", confirm: "x")
      }
      .first == "same-password"
    )
    #expect(
      broken { try change(new: good, confirm: "an engine of Brass") } == [
        "confirmation-mismatch", "confirmation-mismatch", "/confirmPassword",
      ]
    )
    #expect(
      broken { try change(new: good, confirm: nil) } == [
        "confirmation-mismatch", "required", "/confirmPassword",
      ]
    )
  }

  @Test func `applies the policy last`() {
    #expect(broken { try change(new: "brass", confirm: "brass") }.first == "password-too-short")
    let long = String(repeating: "brass!", count: 200)
    #expect(broken { try change(new: long, confirm: long) }.first == "password-too-long")
    #expect(
      broken { try change(new: "Password123", confirm: "Password123", minimum: 8) } == [
        "password-too-common", "password-too-common", "/newPassword",
      ]
    )
  }

  @Test func `passes the passwords on, normalised, spaces and all`() throws {
    let passed = try change(new: " cafe\u{301} of brass ", confirm: " caf\u{E9} of brass ")
    #expect(passed.new.text.utf8.elementsEqual(" caf\u{E9} of brass ".utf8))
    #expect(passed.old?.text == "tea with Babbage at 5")
  }

  @Test func `leaves an impossible old one to be wrong`() throws {
    let passed = try change(old: String(repeating: "x", count: 1025), new: good, confirm: good)
    #expect(passed.old == nil)
  }

  @Test(arguments: [
    (#"{"oldPassword":1,"newPassword":[],"confirmPassword":true}"#, 3), (#"{"user":"x"}"#, 1),
    ("[]", 1),
  ])
  func `refuses other shapes by pointer`(text: String, count: Int) throws {
    let words = PersonalWords(try given(ada()).user)
    let body = try json(text)
    let refusal = #expect(throws: PasswordChange.Refusal.self) {
      try PasswordChange.read(body, policy: .standard, person: words)
    }
    guard case .invalid(let invalid)? = refusal else {
      Issue.record("not refused for its shape")
      return
    }
    #expect(invalid.errors.count == count)
  }
}

@Suite("A new password")
struct PasswordPolicyTests {
  private func code(_ password: String, minimum: Int = 8) throws -> FieldError.Code? {
    var members: JSONObject = ["email": "charles.babbage@example.com"]
    members["password"] = .string(password)
    members["firstName"] = "Charles"
    members["lastName"] = "Babbage-Whitmore"
    let policy = try #require(PasswordPolicy(minimumLength: minimum))
    do throws(InvalidFields) {
      _ = try Registration.read(
        .object(members),
        schema: .standard,
        passwords: policy,
        today: today
      )
    } catch {
      return error.errors.first?.code
    }
    return nil
  }

  @Test(arguments: [
    "correct horse battery staple", " leading and trailing ", "пароль из слов здесь", "🐎🔋📎✅🐎🔋📎🌍",
    "p@ssw0rd with more around it", "charles likes analytical engines", "zq8#kk2!",
  ])
  func `may be any phrase`(password: String) throws {
    #expect(try code(password) == nil)
  }

  @Test func `is counted in code points after composing`() throws {
    #expect(try code("e\u{301}e\u{301}e\u{301}xyzw", minimum: 8) == .passwordTooShort)
    #expect(try code("🐎🔋📎✅🐎🔋📎🌍", minimum: 8) == nil)
    #expect(try code(String(repeating: "ab9!", count: 3) + "wxy", minimum: 15) == nil)
    #expect(try code("fourteen chars", minimum: 15) == .passwordTooShort)
  }

  @Test func `may take 1,024 bytes and not one more`() throws {
    let long = String((0..<256).map { String($0 + 4000) }.joined())
    #expect(long.utf8.count == 1024)
    #expect(try code(long) == nil)
    #expect(try code(long + "x") == .passwordTooLong)
    #expect(try code(String(repeating: "x", count: 60_000)) == .passwordTooLong)
    #expect(try code(String(repeating: "e\u{301}", count: 20_000)) == .passwordTooLong)
  }

  @Test func `holds no U+0000`() throws {
    #expect(try code("Passw\u{0}Aaaaaaaa") == .forbiddenCharacter)
  }

  @Test(arguments: ["", "                    ", "\t\t\t\t\t\t\t\t\t"])
  func `is not blank`(password: String) throws {
    #expect(try code(password) == .passwordTooShort)
  }

  @Test(arguments: [
    "password", "PASSWORD", "12345678", "qwertyuiop", "iloveyou", "Password1", "trustno1",
    "zzzzzzzz",
    "abcabcabcabc", "passwordpassword", "administration",
  ])
  func `is not a common one`(password: String) throws {
    #expect(try code(password) == .passwordTooCommon)
  }

  @Test(arguments: [
    "charles.babbage", "Charles Babbage 1791!", "babbage-whitmore", "CHARLES1791-12-26",
    "jejak-jejak",
    "Jejakpassword", "babbage!x9z",
  ])
  func `is not what a stranger would try`(password: String) throws {
    #expect(try code(password) == .passwordTooCommon)
  }

  @Test func `never shows in a description`() throws {
    let password = try #require(Password(presented: "an engine of brass"))
    #expect("\(password)" == "***")
    #expect(String(reflecting: password) == "***")
    #expect(String(describing: [password]) == "[***]")
    var dumped = ""
    dump(password, to: &dumped)
    #expect(!dumped.contains("brass"))
  }

  @Test func `is the same in both normal forms when presented`() {
    #expect(
      Password(presented: "caf\u{E9}")?.text.utf8.elementsEqual("caf\u{E9}".utf8)
        == Password(presented: "cafe\u{301}")?.text.utf8.elementsEqual("caf\u{E9}".utf8)
    )
    #expect(Password(presented: " x") != Password(presented: "x"))
    #expect(Password(presented: "a\u{0}b") == nil)
    #expect(Password(presented: String(repeating: "x", count: 1_000_000)) == nil)
  }

  @Test func `policy stays within bounds`() {
    #expect(PasswordPolicy(minimumLength: 7) == nil)
    #expect(PasswordPolicy(minimumLength: 8)?.minimumLength == 8)
    #expect(PasswordPolicy.standard.minimumLength == 15)
  }
}
