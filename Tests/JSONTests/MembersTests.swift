import JSON
import Testing

@Suite("An object's members")
struct MembersTests {
  private func slice(_ text: String, _ name: StaticString) -> String? {
    JSONMembers(of: Array(text.utf8)[...])?[name].map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `are found by name, whatever stands in the others`() {
    let text = #"{"a":"},{\"b\":1","b":[1,{"c":"]"}],"c":{"d":",","e":{}},"f":-1.5e3,"g":null}"#
    #expect(slice(text, "a") == #""},{\"b\":1""#)
    #expect(slice(text, "b") == #"[1,{"c":"]"}]"#)
    #expect(slice(text, "c") == #"{"d":",","e":{}}"#)
    #expect(slice(text, "f") == "-1.5e3")
    #expect(slice(text, "g") == "null")
    #expect(slice(text, "d") == nil)
  }

  @Test func `are those of what the writer wrote`() throws {
    let nested: JSON = ["x": ["\"\\", "é😀\n"], "y": ["z": 1.5]]
    let value: JSON = ["first": nested, "second": "a\\\"b", "third": []]
    let members = try #require(JSONMembers(of: value.bytes[...]))
    for (name, expected) in [("first", nested), ("second", "a\\\"b"), ("third", [])]
      as [(StaticString, JSON)]
    {
      #expect(try JSON.parse(Array(try #require(members[name]))) == expected)
    }
  }

  @Test(arguments: ["", "[]", "{", "nul", #""a""#, "{\"a\":1"])
  func `are none where there is no object`(text: String) {
    #expect(JSONMembers(of: Array(text.utf8)[...]) == nil)
  }

  @Test(arguments: ["{}", #"{"a"}"#, #"{"a":}"#, #"{"a\"}"#, #"{"a":"b}"#, "{,}", #"{"a":1,}"#])
  func `of broken text may be anything, but end the reading`(text: String) {
    _ = JSONMembers(of: Array(text.utf8)[...])?["a"]
  }
}
