import JSON
import Profiles
import Testing

@Suite("An event")
struct EventTests {
  func all() throws -> [Event] {
    let full = try ada(#""firstName":"Ada","attributes":{"height":165.0,"isMarried":false}"#)
    let (updates, _) = try given(ada()).whenPatched(
      #"{"firstName":null,"lastName":"King","attributes":{"weight":60}}"#
    )
    let old = try #require(EmailAddress("Ada@example.com"))
    let new = try #require(EmailAddress("ada@bücher.de"))
    let session = SessionID(unixMilliseconds: 1_764_500_000_000)
    return updates + [
      .userRegistered(full, try commitment(1)), .userRegistered(try ada(""), nil),
      .emailChanged(old: old, new: new, isVerified: true), .passwordChanged(try commitment(2)),
      .userSuspended, .userReinstated, .userErased, .signedIn(session), .signInFailed,
      .signedOut(session),
      .sessionsRevoked(count: 3, kept: session), .sessionsRevoked(count: 1, kept: nil),
    ]
  }

  @Test func `reads back from its payload`() throws {
    let source: JSON = ["address": "192.0.2.1", "agent": "curl"]
    for event in try all() {
      let payload = try JSON.parse(event.payload(source: source).bytes)
      #expect(try Event(type: event.type, schema: event.schema, payload: payload) == event)
      #expect(Event.source(ofPayload: payload) == source)
      #expect(
        Event.changes(ofPayload: payload).array?.count
          == (event.type == "PasswordChanged" ? 0 : event.changedFields.count)
      )
    }
  }

  @Test func `moves its own stream's version only`() throws {
    for event in try all() {
      var user = try given(ada()).user
      user.apply(event)
      let isAccess = event.stream == .access
      #expect(user.version == Version(isAccess ? 1 : 2))
      #expect(user.accessVersion == Version(isAccess ? 1 : 0))
    }
  }

  @Test func `of registration lists each set field`() throws {
    let registration = try ada(#""firstName":"Ada","attributes":{"weight":60}"#)
    let event = try #require(User.register(registration, commitment: nil).first)
    #expect(event.changedFields == ["email", "firstName", "attributes.weight"])
    #expect(
      event.payload(source: nil) == [
        "changes": [
          ["field": "email", "old": .null, "new": "ada@example.com"],
          ["field": "firstName", "old": .null, "new": "Ada"],
          ["field": "attributes.weight", "old": .null, "new": 60],
        ]
      ]
    )
  }

  @Test(arguments: [
    ("UserRegistered", #"{"changes":[]}"#), ("UserRegistered", "{}"), ("ProfileUpdated", "[]"),
    ("ProfileUpdated", #"{"changes":[{"field":"role","old":null,"new":1}]}"#),
    ("ProfileUpdated", #"{"changes":[{"field":"firstName","old":null,"new":1}]}"#),
    ("ProfileUpdated", #"{"changes":[{"field":"firstName","new":"x"}]}"#),
    ("PasswordChanged", #"{"commitment":"00"}"#), ("SignedIn", #"{"session":"x"}"#),
    ("EmailChanged", #"{"changes":[]}"#), ("SessionsRevoked", #"{"count":"1","kept":null}"#),
    ("UserForgotten", "{}"),
  ])
  func `is refused where it is corrupt or unknown`(type: String, payload: String) throws {
    let payload = try json(payload)
    #expect(throws: EventCodingError.self) {
      try Event(type: type, schema: 1, payload: payload)
    }
  }

  @Test func `of a newer form is refused as unknown`() throws {
    #expect(throws: EventCodingError.unknown(type: "SignInFailed", schema: 2)) {
      try Event(type: "SignInFailed", schema: 2, payload: [:])
    }
  }

  @Test(arguments: [
    (
      EventCodingError.unknown(type: "FromTheFuture", schema: 1),
      "this release knows no event type 'FromTheFuture' (schema 1)"
    ),
    (
      .invalid(type: "ProfileUpdated", member: "changes"),
      "the payload of ProfileUpdated has no valid member 'changes'"
    ),
    (.invalid(type: "ProfileUpdated", member: ""), "the payload of ProfileUpdated is no JSON"),
  ])
  func `that can't be read says so to people`(error: EventCodingError, text: String) {
    #expect("\(error)" == text)
  }
}

@Suite("A user")
struct UserTests {
  @Test func `is suspended and reinstated once`() throws {
    let (events, suspended) = try given(ada()).when(.suspend)
    #expect(events == [.userSuspended])
    #expect(suspended.status == .suspended)
    #expect(try Given(user: suspended).when(.suspend).events == [])
    #expect(try Given(user: suspended).when(.reinstate).user.status == .active)
    #expect(try given(ada()).when(.reinstate).events == [])
  }

  @Test func `does not sign in, nor change credentials, while suspended`() throws {
    let suspended = try given(ada(), .userSuspended)
    let session = SessionID(unixMilliseconds: 1)
    let other = try #require(EmailAddress("b@example.com"))
    for command: Command in [
      .signIn(session), .changePassword(try commitment(1)), .changeEmail(other, isVerified: false),
    ] {
      #expect(throws: Refusal.suspended) { try suspended.when(command) }
    }
    #expect(try suspended.when(.recordFailedSignIn).events == [.signInFailed])
  }

  @Test func `signs in and out without moving the ETag`() throws {
    let session = SessionID(unixMilliseconds: 1)
    let (_, user) = try given(ada(), .signedIn(session), .signedOut(session)).when(
      .revokeSessions(count: 2, kept: nil)
    )
    #expect(user.version == Version(1))
    #expect(user.accessVersion == Version(3))
    #expect(try given(ada()).when(.revokeSessions(count: 0, kept: session)).events == [])
  }

  @Test func `changes the address and keeps the rest`() throws {
    let new = try #require(EmailAddress("ada@new.example"))
    let start = try given(ada(#""attributes":{"weight":60}"#))
    let (events, user) = try start.when(.changeEmail(new, isVerified: true))
    #expect(events.first?.changedFields == ["email"])
    #expect(user.email == new)
    #expect(user.emailVerified)
    #expect(user.attributes == ["weight": 60])
    #expect(try Given(user: user).when(.changeEmail(new, isVerified: true)).events == [])
  }

  @Test func `changes the password without a trace of it`() throws {
    let commitment = try commitment(9)
    let (events, user) = try given(ada()).when(.changePassword(commitment))
    #expect(events == [.passwordChanged(commitment)])
    #expect(events.first?.changedFields == ["password"])
    #expect(user.version == Version(2))
    #expect(Event.changes(ofPayload: try #require(events.first).payload(source: nil)) == [])
  }

  @Test func `begins with a registration`() throws {
    #expect(User.fold(id: adaID, [.userSuspended]) == nil)
    #expect(User.fold(id: adaID, []) == nil)
  }
}

@Suite("A document")
struct DocumentTests {
  @Test func `has the members that the interface promises, in order`() throws {
    let user = try given(ada(#""firstName":"A\"da","attributes":{"weight":60,"height":165.5}"#))
      .user
    #expect(
      String(decoding: user.document, as: UTF8.self)
        == #"{"id":"0198f0c2-0000-7000-8000-000000000001","email":"ada@example.com","#
        + #""emailVerified":false,"firstName":"A\"da","lastName":null,"#
        + #""attributes":{"height":165.5,"weight":60},"status":"active""#
    )
  }

  @Test func `reads back`() throws {
    let user = try given(ada(), .userSuspended, .signInFailed).user
    let read = try User(
      document: user.document,
      version: user.version,
      accessVersion: user.accessVersion
    )
    #expect(read == user)
  }

  @Test(arguments: [
    "", "{", #"{"id":"x""#, #"{"id":"0198f0c2-0000-7000-8000-000000000001","email":1"#,
  ])
  func `is refused where it is corrupt`(text: String) {
    #expect(throws: DocumentError.self) {
      try User(document: Array(text.utf8), version: .zero, accessVersion: .zero)
    }
  }
}

@Suite("An identifier")
struct IdentifierTests {
  @Test func `reads and writes its 36 characters and 16 bytes`() throws {
    let text = "0198f0c2-1a2b-7c3d-8e4f-0123456789ab"
    let id = try #require(UserID(text))
    #expect(id.description == text)
    #expect(UserID(text.uppercased()) == id)
    #expect(UserID(bytes: id.bytes) == id)
    #expect(id.bytes.first == 0x01 && id.bytes.last == 0xAB)
  }

  @Test(arguments: [
    "", "0198f0c2", "0198f0c21a2b7c3d8e4f0123456789ab", "0198f0c2-1a2b-7c3d-8e4f-0123456789abc",
    "0198f0c2-1a2b-7c3d-8e4f-0123456789ag", "{198f0c2-1a2b-7c3d-8e4f-0123456789a}",
    "0198f0c2-1a2b-7c3d-8e4f0-123456789ab", "0198f0c2-1a2b-7c3d-8e4f-0123456789é",
  ])
  func `is nothing else`(text: String) {
    #expect(UserID(text) == nil)
  }

  @Test func `is of version 7 and rises with time`() {
    let earlier = EventID(unixMilliseconds: 1_764_500_000_000)
    let later = EventID(unixMilliseconds: 1_764_500_000_001)
    #expect(earlier < later)
    #expect(earlier.high >> 16 == 1_764_500_000_000)
    #expect(earlier.high >> 12 & 0xF == 7)
    #expect(earlier.low >> 62 == 2)
    #expect(earlier != EventID(unixMilliseconds: 1_764_500_000_000))
  }
}
