import JSON
import Profiles
import Testing

@Suite("Updating a profile")
struct PatchTests {
  func measuredAda() throws -> Given {
    try given(
      ada(#""firstName":"Ada","attributes":{"height":165.5,"weight":60,"isMarried":true}"#)
    )
  }

  @Test func `keeps every field that is absent`() throws {
    let (events, user) = try measuredAda().whenPatched(#"{"attributes":{"weight":61}}"#)
    #expect(user.firstName?.text == "Ada")
    #expect(user.email.text == "ada@example.com")
    #expect(user.attributes == ["height": 165.5, "isMarried": true, "weight": 61])
    #expect(events.map(\.changedFields) == [["attributes.weight"]])
    #expect(user.version == Version(2))
  }

  @Test func `clears what is null and keeps the rest`() throws {
    let (_, user) = try measuredAda().whenPatched(
      #"{"firstName":null,"attributes":{"height":null}}"#
    )
    #expect(user.firstName == nil)
    #expect(user.attributes == ["isMarried": true, "weight": 60])
  }

  @Test func `clears all attributes with one null`() throws {
    let (events, user) = try measuredAda().whenPatched(#"{"attributes":null}"#)
    #expect(user.attributes == [:])
    #expect(
      events.map(\.changedFields) == [
        ["attributes.height", "attributes.isMarried", "attributes.weight"]
      ]
    )
  }

  @Test func `clears an attribute that the schema no longer knows`() throws {
    let narrow = try schema(#"{"type":"object","properties":{"weight":{"type":"integer"}}}"#)
    let (events, user) = try measuredAda().whenPatched(
      #"{"attributes":{"height":null}}"#,
      schema: narrow
    )
    #expect(user.attributes == ["isMarried": true, "weight": 60])
    #expect(events.map(\.changedFields) == [["attributes.height"]])
    let unknown = codes {
      _ = try measuredAda().whenPatched(#"{"attributes":{"hight":null}}"#, schema: narrow)
    }
    #expect(unknown == ["/attributes/hight": .unknownField])
  }

  @Test(arguments: [
    "{}", #"{"firstName":"Ada"}"#, #"{"firstName":" Ada "}"#, #"{"attributes":{}}"#,
    #"{"attributes":{"height":165.50,"weight":60.0,"isMarried":true}}"#, #"{"lastName":null}"#,
    #"{"attributes":{"dateOfBirth":null}}"#,
  ])
  func `keeps quiet when nothing changes`(text: String) throws {
    let (events, user) = try measuredAda().whenPatched(text)
    #expect(events == [])
    #expect(user == (try measuredAda().user))
  }

  @Test func `keeps quiet about the same name in another normal form`() throws {
    let (events, user) = try given(ada(#""firstName":"Ren\u00e9""#))
      .whenPatched(#"{"firstName":"Rene\u0301"}"#)
    #expect(events == [])
    #expect(user.firstName?.text.unicodeScalars.count == 4)
  }

  @Test func `tells zero and false from missing`() throws {
    #expect(
      codes { _ = try patch(#"{"attributes":{"weight":0}}"#) } == [
        "/attributes/weight": .outOfRange
      ]
    )
    #expect(
      codes { _ = try patch(#"{"attributes":{"height":0.0}}"#) } == [
        "/attributes/height": .outOfRange
      ]
    )
    let (_, user) = try measuredAda().whenPatched(#"{"attributes":{"isMarried":false}}"#)
    #expect(user.attributes["isMarried"] == false)
  }

  @Test func `names every wrong field at once`() throws {
    let text = #"""
      {"firstName":7,"role":"admin","emailVerified":true,"id":"x","createdAt":"y","email":"a@b.cd",
       "attributes":{"weight":"80","isMarried":"False","height":null,
       "shoeSize":44,"dateOfBirth":1990}}
      """#
    #expect(
      codes { _ = try patch(text) } == [
        "/firstName": .wrongType, "/role": .unknownField, "/emailVerified": .readOnly,
        "/id": .readOnly, "/createdAt": .readOnly, "/email": .readOnly,
        "/attributes/weight": .wrongType, "/attributes/isMarried": .wrongType,
        "/attributes/shoeSize": .unknownField, "/attributes/dateOfBirth": .wrongType,
      ]
    )
  }

  @Test(arguments: ["[]", "null", "1", #""x""#])
  func `is an object`(text: String) {
    #expect(codes { _ = try patch(text) } == ["": .wrongType])
  }

  @Test func `reports a bounded number of errors`() throws {
    let members = (0..<500).map { "\"field\($0)\":1" }.joined(separator: ",")
    #expect(codes { _ = try patch("{\(members)}") }.count == FieldError.maximumCount)
    #expect(
      codes { _ = try patch("{\"attributes\":{\(members)}}") }.count == FieldError.maximumCount
    )
  }

  @Test func `lets changes of different fields both hold`() throws {
    let start = try measuredAda()
    let (first, _) = try start.whenPatched(#"{"firstName":"Augusta"}"#)
    let (second, _) = try start.whenPatched(#"{"attributes":{"weight":61}}"#)
    var user = start.user
    for event in first + second { user.apply(event) }
    #expect(user.firstName?.text == "Augusta")
    #expect(user.attributes["weight"] == 61)
    #expect(user.version == Version(3))
  }

  @Test func `records old and new value`() throws {
    let (events, _) = try measuredAda().whenPatched(
      #"{"lastName":"Lovelace","attributes":{"weight":null}}"#
    )
    let payload = try #require(events.first).payload(source: nil)
    #expect(
      Event.changes(ofPayload: payload) == [
        ["field": "lastName", "old": .null, "new": "Lovelace"],
        ["field": "attributes.weight", "old": 60, "new": .null],
      ]
    )
  }
}

@Suite("Registering")
struct RegistrationTests {
  @Test func `keeps all that was submitted`() throws {
    let (_, user) = try given(
      ada(#""firstName":"Ada","attributes":{"weight":60,"dateOfBirth":"1990-12-10"}"#)
    ).whenPatched("{}")
    #expect(user.firstName?.text == "Ada")
    #expect(user.lastName == nil)
    #expect(user.attributes == ["dateOfBirth": "1990-12-10", "weight": 60])
    #expect(user.version == Version(1))
    #expect(user.accessVersion == .zero)
    #expect(!user.emailVerified)
  }

  @Test func `needs an address and a password`() throws {
    for text in ["{}", #"{"email":null,"password":null}"#] {
      #expect(codes { _ = try register(text) } == ["/email": .required, "/password": .required])
    }
  }

  @Test func `names every wrong field at once`() throws {
    let text = #"""
      {"email":"a@b@c","password":"short","firstName":"a\u0001b","lastName":true,
       "role":"admin","emailVerified":true,"status":"active","attributes":[1]}
      """#
    #expect(
      codes { _ = try register(text) } == [
        "/email": .invalidEmail, "/password": .passwordTooShort, "/firstName": .forbiddenCharacter,
        "/lastName": .wrongType, "/role": .unknownField, "/emailVerified": .readOnly,
        "/status": .readOnly, "/attributes": .wrongType,
      ]
    )
  }

  @Test func `takes null for absent`() throws {
    let user = try given(ada(#""firstName":null,"attributes":{"height":null}"#)).user
    #expect(user.firstName == nil)
    #expect(user.attributes == [:])
    #expect(try given(ada(#""attributes":null"#)).user.attributes == [:])
  }
}
