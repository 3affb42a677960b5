import EventLog
import EventLoop
import JSON
import Profiles
import TestSupport
import Testing

/// Appends what people do at random, each event decided on the last state of its user.
struct RandomLog {
  private var generator: SplitMix
  private(set) var users: [User] = []

  init(seed: UInt64) {
    generator = SplitMix(state: seed)
  }

  /// The next event, with what it leaves behind.
  mutating func next() throws -> NewEvent {
    if users.isEmpty || Int.random(in: 0..<8, using: &generator) == 0 {
      let (user, event) = try TestUser.new("user\(users.count)@example.com")
      users.append(user)
      return event
    }
    let index = users.indices.randomElement(using: &generator) ?? 0
    switch Int.random(in: 0..<8, using: &generator) {
    case 0, 1:
      let event = TestUser.access(users[index].id, after: users[index].accessVersion, access())
      users[index].apply(event.event)
      return event
    case 2:
      let (user, event) = try TestUser.decide(users[index], command(users[index]))
      users[index] = user
      return event
    default:
      let (user, event) = try TestUser.update(users[index], body())
      users[index] = user
      return event
    }
  }

  private mutating func access() -> Event {
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: .signInFailed
    case 1: .signedIn(SessionID(high: generator.next(), low: generator.next()))
    default: .sessionsRevoked(count: 2, kept: nil)
    }
  }

  /// A command that always changes something.
  private mutating func command(_ user: User) throws -> Command {
    guard user.status == .active else { return .reinstate }
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: return .suspend
    case 1: return .changePassword(try #require(Commitment(bytes: Array(repeating: 7, count: 32))))
    default:
      let address = "O'Neil+\(generator.next())@bücher\(users.count).example"
      return .changeEmail(try #require(EmailAddress(address)), isVerified: true)
    }
  }

  /// A merge patch that always changes something.
  private mutating func body() -> JSON {
    let number = JSON.integer(Int64(truncatingIfNeeded: generator.next()))
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: return ["attributes": ["a": number, "text": "tab\t, line\n, \\ and 🚀"]]
    case 1: return ["attributes": ["b": ["deep": ["er": number]], "a": .null]]
    case 2: return ["firstName": .string("Ada \(generator.next())"), "lastName": .null]
    case 3: return ["lastName": .string("O'Neil \(generator.next())")]
    case 4: return ["firstName": .string(#"\\ \ "é" ' & :* ẞ İ 🚀 "# + "\(generator.next())")]
    default:
      let name = #""quote" \ {brace,comma} 'n' NULL "# + "\(generator.next() % 3)"
      return ["attributes": .object(JSONObject([.init(key: name, value: number)]))]
    }
  }

  /// Appends `count` events through `lane`, in the order of their making.
  mutating func append(_ count: Int, to lane: AppendLane, on loop: EventLoop) async throws {
    var tasks: [Task<Void, any Error>] = []
    for _ in 0..<count {
      let event = try next()
      guard event.event.kind != .userRegistered else {
        // A registration is never part of a chain.
        _ = try await lane.append(event)
        continue
      }
      tasks.append(Task(executorPreference: loop) { _ = try await lane.append(event) })
    }
    for task in tasks { try await task.value }
  }
}
