import Clocks
import EventLog
import Profiles
import Testing

@Suite("A filter of histories")
struct HistoryFilterTests {
  @Test func `is read from its parameters`() throws {
    let id = Identifier<Actor>(high: 1, low: 2)
    let texts = [
      "actor": "operator:\(id)", "type": "SignedIn,UserForgotten,SignedIn",
      "field": #"email,attributes.a\,b,attributes.c\\d,email"#, "since": "2026-11-30",
      "until": "2026-11-30T10:00:00+01:00", "user": "is not looked at",
    ]
    let error = #expect(throws: HistoryFilterError.self) { try HistoryFilter { texts[$0] } }
    #expect(error?.parameter == "type")
    let filter = try HistoryFilter { $0 == "type" ? "SignedIn,SignedOut,SignedIn" : texts[$0] }
    #expect(filter.actor == .operator(id))
    #expect(filter.types == [.signedIn, .signedOut])
    #expect(filter.fields == ["email", "attributes.a,b", #"attributes.c\d"#])
    #expect(filter.since == Timestamp("2026-11-30T00:00:00Z"))
    #expect(filter.until == Timestamp("2026-11-30T09:00:00Z"))
    #expect(!filter.isEmpty)
  }

  @Test func `of nothing lets everything through`() throws {
    #expect(try HistoryFilter { _ in nil }.isEmpty)
  }

  @Test(arguments: [
    ("actor", "key:1"), ("actor", "user:"), ("actor", ""), ("type", "signedin"), ("type", ","),
    ("field", ""), ("field", "a,"), ("field", "\0"), ("since", "30.11.2026"), ("until", "now"),
  ])
  func `names the parameter that it can't read`(parameter: String, text: String) {
    let error = #expect(throws: HistoryFilterError.self) {
      try HistoryFilter { $0 == parameter ? text : nil }
    }
    #expect(error?.parameter == parameter)
  }
}
