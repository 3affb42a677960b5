import Profiles
import TestSupport
import Testing

@Suite("The words of a search")
struct SearchWordsTests {
  private static func words(_ name: String) -> [String] {
    SearchWords.words(ofQuery: name)
  }

  @Test(arguments: [
    ("José", "jose"), ("JOSE\u{301}", "jose"), ("Ångström", "angstrom"), ("Å", "\u{212B}"),
    ("İstanbul", "istanbul"), ("ISPARTA", "ısparta"), ("straße", "STRASSE"), ("STRAẞE", "strasse"),
    ("Łukasz", "lukasz"), ("Ødegård", "odegard"), ("Đorđe", "dorde"), ("Þór", "thor"),
    ("Æsir", "aesir"), ("Œuvre", "oeuvre"), ("Nguyễn", "nguyen"), ("Ἀθηνᾶ", "ΑΘΗΝΑ"),
    ("ΟΔΥΣΣΕΥΣ", "οδυσσεύς"), ("Ёлкин", "елкин"), ("ﬁona", "fiona"), ("ＡＤＡ", "ada"),
    ("שָׁלוֹם", "שלום"), ("مُحَمَّد", "محمد"), ("한", "\u{1112}\u{1161}\u{11AB}"),
    ("O’Neil", "o'neil"), ("O\u{2BC}Neil", "O'NEIL"), ("Anne\u{2011}Marie", "anne-marie"),
    ("so\u{AD}ft", "soft"), ("👩\u{200D}👩", "👩👩"), ("ŉ", "'n"), ("ſ", "S"),
  ])
  func `are the same however they are written`(one: String, other: String) {
    #expect(Self.words(one) == Self.words(other))
    #expect(!Self.words(one).isEmpty)
  }

  @Test(arguments: [("कि", "कु"), ("กี", "กู"), ("か", "き"), ("ada", "adb"), ("日", "本")])
  func `differ where letters do`(one: String, other: String) {
    #expect(Self.words(one) != Self.words(other))
  }

  @Test func `of a person are the parts of names and address`() {
    let words = SearchWords.words(
      email: "Ada.O'Neil+news@Mail.Example.com",
      firstName: "Anne-Marie  Sophie",
      lastName: "O’Neil"
    )
    #expect(
      words == [
        "ada", "ada.o'neil+news", "ada.o'neil+news@mail.example.com", "anne", "anne-marie",
        "annemarie", "com", "example", "mail", "mail.example.com", "marie", "neil", "news",
        "news@mail.example.com", "o", "o'neil", "oneil", "sophie",
      ]
    )
  }

  @Test func `of nothing are none`() {
    #expect(Self.words("").isEmpty)
    #expect(Self.words(" \u{3000}\t\u{301} \u{200D}").isEmpty)
    #expect(SearchWords.words(email: "a@b.c", firstName: nil, lastName: nil).contains("a@b.c"))
    let joints = SearchWords.words(email: "a@b.c", firstName: "-", lastName: "'")
    #expect(joints.contains("-") && !joints.contains(""))
  }

  @Test(arguments: ["ada+news@x.org", "ada+new", "news@x ada", "x+y", "Ada +news"])
  func `find an address with a plus sign, whether that is one or a space`(query: String) {
    let words = SearchWords.words(email: "Ada+News@x.org", firstName: "X+Y", lastName: nil)
    let query = SearchWords.words(ofQuery: query)
    #expect(SearchWords.areFound(query, in: words))
  }

  @Test(arguments: ["a", "é", "日", "🚀", "ﷺ", "ㅎ"])
  func `are cut at a whole character, here as there`(letter: String) throws {
    let long = String(repeating: letter, count: 1000)
    let words = SearchWords.words(email: "a@b.c", firstName: long, lastName: nil)
    for word in words + Self.words(long) {
      #expect(word.utf8.count <= SearchWords.maximumLength)
      #expect(!word.unicodeScalars.contains("\u{FFFD}"))
    }
    #expect(Set(Self.words(long)).isSubset(of: Set(words)))
  }

  @Test(arguments: [1, 2, 3])
  func `of any text are their own words`(seed: UInt64) {
    var generator = SplitMix(state: seed)
    for _ in 0..<300 {
      let scalars = (0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0...0x2FFFF, using: &generator))
      }
      let text = String(String.UnicodeScalarView(scalars))
      let words = Self.words(text)
      #expect(Self.words(words.joined(separator: " ")) == words, "\(scalars)")
      #expect(Self.words(text + " ") == words)
    }
  }
}
