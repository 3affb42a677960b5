import JSON
import Profiles
import TestSupport
import Testing

@Suite("Reverting a change")
struct RevertTests {
  private static let open = #"{"type":"object","additionalProperties":true}"#

  /// The reversion of the last of `events`.
  private func reversion(
    of event: Event?,
    overwrites: Bool = false,
    schema: ProfileSchema = .standard
  ) throws -> Command {
    let reversion = Reversion(
      of: try #require(event),
      version: Version(2),
      overwrites: overwrites,
      schema: schema,
      today: today
    )
    return .revert(try #require(reversion))
  }

  @Test func `brings the old values back, and says what it reverts`() throws {
    let before = try given(ada(#""firstName":"Ada","attributes":{"height":165.5,"weight":60}"#))
    let (events, changed) = try before.whenPatched(
      #"{"firstName":"Grace","lastName":"Hopper","attributes":{"height":null,"weight":61}}"#
    )
    let (reverts, after) = try Given(user: changed).when(try reversion(of: events.first))
    #expect(after.differences(to: before.user) == [])
    #expect(after.version == Version(3))
    let payload = try #require(reverts.first).payload(source: nil)
    #expect(payload.object?["reverts"] == 2)
    let read = try Event(type: "ProfileUpdated", schema: 1, payload: payload)
    #expect(read == reverts.first)
    // Once more there is nothing to do.
    #expect(try Given(user: after).when(try reversion(of: events.first)).events == [])
  }

  @Test func `leaves alone what it did not touch`() throws {
    let (events, changed) = try given(ada()).whenPatched(#"{"firstName":"Grace"}"#)
    let (_, later) = try Given(user: changed).whenPatched(#"{"lastName":"Hopper"}"#)
    let (_, after) = try Given(user: later).when(try reversion(of: events.first))
    #expect(after.firstName?.text == "Ada")
    #expect(after.lastName?.text == "Hopper")
  }

  @Test func `replaces an object as a whole`() throws {
    let schema = try schema(Self.open)
    let before = Given(
      user: try given(ada()).whenPatched(#"{"attributes":{"a":{"x":1}}}"#, schema: schema).user
    )
    let (events, changed) = try before.whenPatched(
      #"{"attributes":{"a":{"x":null,"y":{"z":2}}}}"#,
      schema: schema
    )
    #expect(changed.attributes == ["a": ["y": ["z": 2]]])
    let command = try reversion(of: events.first, schema: schema)
    let (_, after) = try Given(user: changed).when(command)
    #expect(after.attributes == ["a": ["x": 1]])
  }

  @Test func `is refused where a field was changed since, unless it may overwrite`() throws {
    let (events, changed) = try given(ada()).whenPatched(
      #"{"firstName":"Grace","attributes":{"weight":61}}"#
    )
    let (_, later) = try Given(user: changed).whenPatched(#"{"attributes":{"weight":62}}"#)
    #expect(throws: Refusal.changedSince([.attribute("weight")])) {
      try later.decide(try reversion(of: events.first))
    }
    let command = try reversion(of: events.first, overwrites: true)
    let (written, after) = try Given(user: later).when(command)
    #expect(after.attributes == [:])
    #expect(after.firstName?.text == "Ada")
    #expect(written.first?.changedFields == ["firstName", "attributes.weight"])
  }

  @Test func `takes no notice of a field that changed and came back`() throws {
    let (events, changed) = try given(ada()).whenPatched(#"{"firstName":"Grace"}"#)
    let (_, other) = try Given(user: changed).whenPatched(#"{"firstName":"Joan"}"#)
    let (_, back) = try Given(user: other).whenPatched(#"{"firstName":"Grace"}"#)
    #expect(
      try Given(user: back).when(try reversion(of: events.first)).user.firstName?.text == "Ada"
    )
  }

  @Test func `obeys the present schema`() throws {
    let (events, changed) = try given(
      ada(#""attributes":{"height":165.5,"weight":60,"isMarried":true}"#)
    ).whenPatched(#"{"attributes":{"height":170,"weight":61,"isMarried":null}}"#)
    let strict = try schema(
      #"""
      {"type":"object","properties":{"height":{"type":"number","minimum":168},
       "weight":{"type":"integer"}}}
      """#
    )
    let refused = codes {
      _ = try changed.decide(try reversion(of: events.first, schema: strict))
    }
    #expect(
      refused == ["/attributes/height": .outOfRange, "/attributes/isMarried": .unknownField]
    )
    let demanding = try schema(
      #"{"type":"object","properties":{"weight":{"type":"integer"}},"required":["weight"]}"#
    )
    let (set, has) = try given(ada()).whenPatched(#"{"attributes":{"weight":60}}"#)
    let missing = codes {
      _ = try has.decide(try reversion(of: set.first, schema: demanding))
    }
    #expect(missing == ["/attributes/weight": .required])
  }

  @Test func `is for changes of names and attributes alone`() throws {
    let others: [Event] = [
      .userRegistered(try ada(), nil), .passwordChanged(try commitment(1)), .userSuspended,
      .userReinstated, .signInFailed,
    ]
    for event in others {
      let reversion = Reversion(
        of: event,
        version: Version(1),
        overwrites: true,
        schema: .standard,
        today: today
      )
      #expect(reversion == nil)
    }
  }

  @Test(arguments: 0..<30)
  func `and comparing fit together, whatever was changed`(seed: UInt64) throws {
    var generator = SplitMix(state: seed)
    let schema = try schema(Self.open)
    var states = [try given(ada()).user]
    for _ in 0..<12 {
      let name = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
      let value = Int.random(in: 0..<3, using: &generator)
      let body = try [
        json(#"{"attributes":{"\#(name)":\#(value)}}"#), json(#"{"attributes":{"\#(name)":null}}"#),
        json(#"{"attributes":{"\#(name)":{"x":\#(value)}}}"#), json(#"{"firstName":"N\#(value)"}"#),
        json(#"{"lastName":null,"attributes":{"\#(name)":[\#(value)]}}"#),
      ].randomElement(using: &generator)
      var state = states[states.count - 1]
      let patch = try ProfilePatch(try #require(body), schema: schema, today: today)
      guard let event = try state.decide(.updateProfile(patch)).first else { continue }
      let before = state
      state.apply(event)
      states.append(state)
      let undone = try Given(user: state).when(try reversion(of: event, schema: schema))
      #expect(undone.user.differences(to: before) == [])
      #expect(undone.user.attributes == before.attributes)
    }
    for first in states {
      for second in states {
        let there = first.differences(to: second)
        let back = second.differences(to: first)
        #expect(there.map(\.field) == back.map(\.field))
        #expect(there.map(\.old) == back.map(\.new))
        #expect(there.isEmpty == (first.document == second.document))
        for third in states {
          #expect(compose(there, second.differences(to: third)) == net(first, third))
        }
      }
    }
  }

  /// What two differences add up to, by field.
  private func compose(_ first: [Difference], _ second: [Difference]) -> [String: [JSON]] {
    var sum = Dictionary(uniqueKeysWithValues: first.map { ($0.field, [$0.old, $0.new]) })
    for difference in second {
      sum[difference.field] = [sum[difference.field]?[0] ?? difference.old, difference.new]
    }
    return sum.filter { $0.value[0] != $0.value[1] }
  }

  private func net(_ first: User, _ second: User) -> [String: [JSON]] {
    Dictionary(
      uniqueKeysWithValues: first.differences(to: second).map { ($0.field, [$0.old, $0.new]) }
    )
  }
}
