import EventLog
import EventLoop
import JSON
import Profiles
import TestSupport

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
    switch Int.random(in: 0..<4, using: &generator) {
    case 0:
      let event = TestUser.access(users[index].id)
      users[index].apply(event.event)
      return event
    default:
      let (user, event) = try TestUser.update(users[index], body())
      users[index] = user
      return event
    }
  }

  /// A merge patch that always changes something.
  private mutating func body() -> JSON {
    let number = JSON.integer(Int64(truncatingIfNeeded: generator.next()))
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: return ["attributes": ["a": number, "text": "tab\t, line\n, \\ and 🚀"]]
    case 1: return ["attributes": ["b": ["deep": ["er": number]], "a": .null]]
    case 2: return ["firstName": .string("Ada \(generator.next())"), "lastName": .null]
    default: return ["lastName": .string("O'Neil \(generator.next())")]
    }
  }

  /// Appends `count` events through `lane`, in the order of their making.
  mutating func append(_ count: Int, to lane: AppendLane, on loop: EventLoop) async throws {
    var tasks: [Task<Void, any Error>] = []
    for _ in 0..<count {
      let event = try next()
      guard event.expected != .zero else {
        // A registration is never part of a chain.
        _ = try await lane.append(event)
        continue
      }
      tasks.append(Task(executorPreference: loop) { _ = try await lane.append(event) })
    }
    for task in tasks { try await task.value }
  }
}
