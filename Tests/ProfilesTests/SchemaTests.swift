import JSON
import Profiles
import Testing

@Suite("A profile schema")
struct SchemaTests {
  let rich = #"""
    {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Profile","type":"object",
     "required":["nickname"],
     "properties":{
       "nickname":{"type":"string","minLength":2,"maxLength":5},
       "color":{"enum":["red","green",3]},
       "level":{"type":"integer","minimum":1,"maximum":9},
       "ratio":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},
       "terms":{"const":true},
       "tags":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2},
       "address":{"type":"object","required":["city"],"properties":{
         "city":{"type":"string"},"street":{"type":"string"},
         "geo":{"type":"object","properties":{"lat":{"type":"number"},"lon":{"type":"number"}}}}},
       "notes":{"type":"object","additionalProperties":{"type":"string"}},
       "open":{"type":"object","additionalProperties":true}}}
    """#

  func user(_ attributes: String) throws -> Given {
    let body =
      #"{"email":"a@example.com","password":"tea with Babbage at 5","attributes":\#(attributes)}"#
    return try given(register(body, schema: schema(rich)).registration)
  }

  @Test(
    arguments: [
      (#"{"nickname":"a"}"#, "/attributes/nickname", .tooShort),
      (#"{"nickname":"abcdef"}"#, "/attributes/nickname", .tooLong),
      (#"{"nickname":null}"#, "/attributes/nickname", .required),
      (#"{"nickname":"a\u0007b"}"#, "/attributes/nickname", .forbiddenCharacter),
      (#"{"color":"blue"}"#, "/attributes/color", .notAllowed),
      (#"{"level":0}"#, "/attributes/level", .outOfRange),
      (#"{"level":10}"#, "/attributes/level", .outOfRange),
      (#"{"level":1.5}"#, "/attributes/level", .wrongType),
      (#"{"level":1e30}"#, "/attributes/level", .outOfRange),
      (#"{"level":"5"}"#, "/attributes/level", .wrongType),
      (#"{"level":true}"#, "/attributes/level", .wrongType),
      (#"{"ratio":1}"#, "/attributes/ratio", .outOfRange),
      (#"{"ratio":0}"#, "/attributes/ratio", .outOfRange),
      (#"{"terms":false}"#, "/attributes/terms", .notAllowed),
      (#"{"tags":[]}"#, "/attributes/tags", .tooShort),
      (#"{"tags":["a","b","c"]}"#, "/attributes/tags", .tooLong),
      (#"{"tags":["a",2]}"#, "/attributes/tags/1", .wrongType),
      (#"{"tags":[null]}"#, "/attributes/tags/0", .wrongType),
      (#"{"address":{"city":null}}"#, "/attributes/address/city", .required),
      (#"{"address":{"zip":1}}"#, "/attributes/address/zip", .unknownField),
      (#"{"address":"Berlin"}"#, "/attributes/address", .wrongType),
      (#"{"notes":{"a/b":1}}"#, "/attributes/notes/a~1b", .wrongType),
      (#"{"open":{"e\u0301":1}}"#, "/attributes/open/e\u{301}", .forbiddenCharacter),
      (#"{"open":{"a":100e200}}"#, "/attributes/open/a", .outOfRange),
    ] as [(String, String, FieldError.Code)]
  )
  func `refuses by pointer and code`(
    attributes: String,
    pointer: String,
    code: FieldError.Code
  ) throws {
    let text = #"{"attributes":\#(attributes)}"#
    #expect(codes { _ = try patch(text, schema: schema(rich)) } == [pointer: code])
  }

  @Test func `merges nested objects and replaces arrays`() throws {
    let start = try user(
      #"{"nickname":"ada","tags":["a"],"address":{"city":"London","geo":{"lat":51.5,"lon":0}}}"#
    )
    let (events, user) = try start.whenPatched(
      #"{"attributes":{"tags":["b"],"address":{"street":"A","geo":{"lon":-0.1}}}}"#,
      schema: schema(rich)
    )
    #expect(user.attributes["tags"] == ["b"])
    #expect(
      user.attributes["address"] == [
        "city": "London", "street": "A", "geo": ["lat": 51.5, "lon": -0.1],
      ]
    )
    #expect(events.map(\.changedFields) == [["attributes.address", "attributes.tags"]])
  }

  @Test func `checks what a patch merges to`() throws {
    let start = try user(#"{"nickname":"ada"}"#)
    #expect(
      codes {
        _ = try start.whenPatched(
          #"{"attributes":{"address":{"street":"A"}}}"#,
          schema: schema(rich)
        )
      } == ["/attributes/address/city": .required]
    )
    #expect(codes { _ = try user(#"{"address":{"street":"A"}}"#) }.count == 2)
  }

  @Test func `needs its required attributes, at registration and for ever`() throws {
    #expect(codes { _ = try user("{}") } == ["/attributes/nickname": .required])
    #expect(codes { _ = try user("null") } == ["/attributes/nickname": .required])
    #expect(
      codes { _ = try patch(#"{"attributes":null}"#, schema: schema(rich)) } == [
        "/attributes/nickname": .required
      ]
    )
  }

  @Test func `leaves alone what a patch does not touch`() throws {
    let start = try given(ada())
    let (events, _) = try start.whenPatched(
      #"{"attributes":{"level":3}}"#,
      schema: schema(rich)
    )
    #expect(events.count == 1)
  }

  @Test func `bounds depth and size`() throws {
    let deep = String(repeating: #"{"a":"#, count: 20) + "1" + String(repeating: "}", count: 20)
    #expect(
      codes { _ = try patch(#"{"attributes":{"open":\#(deep)}}"#, schema: schema(rich)) }
        .values.elementsEqual([.outOfRange])
    )
    var large = try user(#"{"nickname":"ada"}"#)
    let text = String(repeating: "x", count: 900)
    #expect(
      codes {
        for index in 0..<100 {
          large = Given(
            user: try large.whenPatched(
              #"{"attributes":{"open":{"m\#(index)":"\#(text)"}}}"#,
              schema: schema(rich)
            ).user
          )
        }
      } == ["/attributes": .tooLong]
    )
  }

  @Test(arguments: [
    (#"{"type":"string"}"#, "/type"), ("[]", ""), ("{}", ""),
    (#"{"type":"object","patternProperties":{}}"#, "/patternProperties"),
    (
      #"{"type":"object","properties":{"a":{"type":"number","minLength":1}}}"#,
      "/properties/a/minLength"
    ),
    (#"{"type":"object","properties":{"a":{"type":"date"}}}"#, "/properties/a/type"),
    (#"{"type":"object","properties":{"a":{}}}"#, "/properties/a"),
    (
      #"{"type":"object","properties":{"a/b":{"type":"string","format":"uri"}}}"#,
      "/properties/a~1b/format"
    ),
    (#"{"type":"object","required":["b"]}"#, "/required"),
    (
      #"{"type":"object","properties":{"a":{"type":"string","minLength":9,"maxLength":2}}}"#,
      "/properties/a/minLength"
    ),
    (
      #"{"type":"object","properties":{"a":{"type":"string","maxLength":-1}}}"#,
      "/properties/a/maxLength"
    ),
    (#"{"type":"object","properties":{"":{"type":"string"}}}"#, "/properties/"),
    (#"{"type":"object","properties":{"a":{"type":"array"}}}"#, "/properties/a/items"),
    (#"{"type":"object","properties":{"a":{"enum":[]}}}"#, "/properties/a/enum"),
  ])
  func `is refused where it says what is not understood`(text: String, pointer: String) {
    let error = #expect(throws: SchemaError.self) { try schema(text) }
    #expect(error?.pointer.description == pointer)
  }

  @Test func `reads the standard one`() {
    #expect(ProfileSchema.standard.json.object?["properties"]?.object?.count == 4)
  }
}

@Suite("Numbers of a profile")
struct AttributeNumberTests {
  @Test(
    arguments: [
      (#"{"weight":78.5}"#, .wrongType), (#"{"weight":1.7976931348623157e308}"#, .outOfRange),
      (#"{"height":100e200}"#, .outOfRange), (#"{"weight":1e30}"#, .outOfRange),
      (#"{"weight":"abc"}"#, .wrongType), (#"{"weight":-1}"#, .outOfRange),
      (#"{"height":"NaN"}"#, .wrongType), (#"{"weight":[60]}"#, .wrongType),
    ] as [(String, FieldError.Code)]
  )
  func `are refused, never rounded`(attributes: String, code: FieldError.Code) {
    #expect(
      Array(codes { _ = try patch(#"{"attributes":\#(attributes)}"#) }.values) == [code]
    )
  }

  @Test(arguments: ["2147483648", "9007199254740993", "9223372036854775807"])
  func `are exact where they are accepted`(weight: String) throws {
    let (_, user) = try given(ada()).whenPatched(#"{"attributes":{"weight":\#(weight)}}"#)
    #expect(user.attributes["weight"]?.bytes == Array(weight.utf8))
  }

  @Test func `are whole where they are written with a zero fraction`() throws {
    let (_, user) = try given(ada()).whenPatched(#"{"attributes":{"weight":60.0,"height":165.0}}"#)
    #expect(JSON.object(user.attributes).bytes == Array(#"{"height":165.0,"weight":60}"#.utf8))
  }
}
