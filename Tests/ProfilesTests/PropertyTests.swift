import JSON
import Profiles
import TestSupport
import Testing

@Suite("Any run of patches")
struct PropertyTests {
  static let openSchema = #"{"type":"object","additionalProperties":true}"#

  @Test(arguments: 0..<40)
  func `adds up to the state, through payloads and documents`(seed: UInt64) throws {
    var generator = SplitMix(state: seed)
    let schema = try schema(Self.openSchema)
    var user = try given(ada()).user
    var events = User.register(try ada(), commitment: nil)
    var expected: JSON = ["firstName": "Ada", "lastName": "Lovelace", "attributes": [:]]

    for _ in 0..<30 {
      let body = randomPatch(using: &generator)
      let decided = try user.decide(
        .updateProfile(ProfilePatch(body, schema: schema, today: today))
      )
      for event in decided {
        let payload = try JSON.parse(event.payload(source: nil).bytes)
        let read = try Event(type: event.type, schema: event.schema, payload: payload)
        user.apply(read)
        events.append(read)
      }
      expected = merge(body, into: expected)
      #expect(view(user) == normal(expected))

      // The same patch again changes nothing.
      let again = try user.decide(
        .updateProfile(ProfilePatch(body, schema: schema, today: today))
      )
      #expect(again == [])
    }
    #expect(User.fold(id: adaID, events) == user)
    let document = user.document
    let read = try User(
      document: document,
      version: user.version,
      accessVersion: user.accessVersion
    )
    #expect(read == user)
    #expect(read.document == document)
    #expect(user.version == Version(Int32(events.count)))
  }

  private func view(_ user: User) -> JSON {
    var members: JSONObject = ["attributes": .object(user.attributes)]
    members["firstName"] = user.firstName.map { .string($0.text) }
    members["lastName"] = user.lastName.map { .string($0.text) }
    return .object(members)
  }

  /// A profile always has attributes, however few.
  private func normal(_ json: JSON) -> JSON {
    guard var object = json.object else { return json }
    object["attributes"] = object["attributes"] ?? [:]
    return .object(object)
  }

  /// RFC 7396, section 2, word for word.
  private func merge(_ patch: JSON, into target: JSON?) -> JSON {
    guard let members = patch.object else { return patch }
    var result = target?.object ?? [:]
    for member in members {
      if member.value.isNull {
        result[member.key] = nil
      } else {
        result[member.key] = merge(member.value, into: result[member.key])
      }
    }
    return .object(result)
  }

  private func randomPatch(using generator: inout SplitMix) -> JSON {
    var patch = JSONObject()
    if Bool.random(using: &generator) { patch["firstName"] = name(using: &generator) }
    if Bool.random(using: &generator) { patch["lastName"] = name(using: &generator) }
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: patch["attributes"] = .null
    case 1: break
    default: patch["attributes"] = object(depth: 3, using: &generator)
    }
    return .object(patch)
  }

  private func name(using generator: inout SplitMix) -> JSON {
    [.null, "Ada", "Augusta", "李", "👩‍👩‍👧", "O'Brien"].randomElement(using: &generator) ?? .null
  }

  private func object(depth: Int, using generator: inout SplitMix) -> JSON {
    var object = JSONObject()
    for _ in 0..<Int.random(in: 0..<4, using: &generator) {
      let key = ["a", "b", "c", "d.e", "é"].randomElement(using: &generator) ?? "a"
      object[key] = value(depth: depth - 1, using: &generator)
    }
    return .object(object)
  }

  private func value(depth: Int, using generator: inout SplitMix) -> JSON {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
    case 0: .null
    case 1: .bool(Bool.random(using: &generator))
    case 2: .integer(Int64.random(in: -3...3, using: &generator))
    case 3: .real(Double(Int.random(in: -6...6, using: &generator)) / 2)
    case 4: .string(["", "x", "é", "a\nb"].randomElement(using: &generator) ?? "")
    case 5: .array([.integer(Int64.random(in: 0...2, using: &generator)), "y"])
    default: object(depth: depth, using: &generator)
    }
  }
}
