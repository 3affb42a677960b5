import JSON
import Profiles
import Testing

/// The day on which every test happens.
let today = CalendarDate(year: 2026, month: 11, day: 30) ?? .latestToday(unixSeconds: 0)

/// The id of the user in every test.
let adaID = UserID(high: 0x0198_F0C2_0000_7000, low: 0x8000_0000_0000_0001)

/// A commitment of 32 bytes that differ from `seed` to `seed`.
func commitment(_ seed: UInt8) throws -> Commitment {
  try #require(Commitment(bytes: (0..<32).map { $0 ^ seed }))
}

/// JSON from its text.
func json(_ text: String) throws -> JSON {
  try JSON.parse(Array(text.utf8))
}

/// A registration and its password, read from a request's text.
func register(
  _ text: String,
  schema: ProfileSchema = .standard,
  passwords: PasswordPolicy = .standard
) throws -> (registration: Registration, password: Password) {
  try Registration.read(json(text), schema: schema, passwords: passwords, today: today)
}

/// Ada as she registers, with `more` members.
func ada(_ more: String = #""firstName":"Ada","lastName":"Lovelace""#) throws -> Registration {
  let comma = more.isEmpty ? "" : ","
  return try register(
    #"{"email":"ada@example.com","password":"tea with Babbage at 5"\#(comma)\#(more)}"#
  ).registration
}

/// A patch read from a request's text.
func patch(_ text: String, schema: ProfileSchema = .standard) throws -> ProfilePatch {
  try ProfilePatch(json(text), schema: schema, today: today)
}

/// The codes of the fields that `body` is refused for.
func codes(_ body: () throws -> Void) -> [String: FieldError.Code] {
  do {
    try body()
  } catch let invalid as InvalidFields {
    return byPointer(invalid.errors)
  } catch Refusal.invalid(let errors) {
    return byPointer(errors)
  } catch {
    Issue.record(error)
  }
  return [:]
}

private func byPointer(_ errors: [FieldError]) -> [String: FieldError.Code] {
  Dictionary(errors.map { ($0.pointer.description, $0.code) }) { first, _ in first }
}

/// What has happened before a test.
struct Given {
  let user: User

  /// The user after `command`, and the events it led to.
  func when(_ command: Command) throws -> (events: [Event], user: User) {
    let events = try user.decide(command)
    var user = user
    for event in events { user.apply(event) }
    return (events, user)
  }

  /// The user after the patch that `text` spells, and the events it led to.
  func whenPatched(
    _ text: String,
    schema: ProfileSchema = .standard
  ) throws -> (events: [Event], user: User) {
    try when(.updateProfile(patch(text, schema: schema)))
  }
}

/// The user that these events led to.
func given(_ registration: Registration, _ events: Event...) throws -> Given {
  let first = User.register(registration, commitment: nil)
  return Given(user: try #require(User.fold(id: adaID, first + events)))
}

/// A schema from its text.
func schema(_ text: String) throws -> ProfileSchema {
  try ProfileSchema(json(text))
}
