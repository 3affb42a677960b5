import EventLog
import EventLoop
import JSON
import Postgres
import Profiles
import Synchronization
import TestSupport
import Testing

@Suite("Eight writers on two loops", .database)
struct WriterTests {
  /// What one writer knows to be in the log.
  private struct Written {
    var count = 0
    var conflicts = 0
  }

  @Test func `leave a log without holes, through conflicts and failures`() async throws {
    let users = try await withLane { loop, lane, _ in
      let made = try (0..<5).map { try TestUser.new("user\($0)@example.com") }
      for outcome in await outcomes(made.map(\.event), loop, lane) { _ = try outcome.get() }
      return made.map(\.user)
    }
    async let first = Self.write(users)
    async let second = Self.write(users)
    let written = try await [first, second]
    let laws = try LogLaws()
    #expect(laws.hold)
    #expect(laws.events == Int64(5 + written.map(\.count).reduce(0, +)))
    #expect(written.map(\.conflicts).reduce(0, +) > 0)

    // The read model is what the last event of each user said.
    let rows = try TestDatabase.current.session().query(
      """
      select bool_and(u.version = e.version)
        from current_users u
        join (select user_id, max(version) as version from events where stream = 1
               group by user_id) e using (user_id)
      """
    )
    #expect(rows.bool(0, 0))
  }

  /// Four writers of one loop, who now and then are out of date about the users.
  private static func write(_ users: [User]) async throws -> Written {
    let state = Shared(Dictionary(uniqueKeysWithValues: users.map { ($0.id, $0) }))
    let ids = users.map(\.id)
    return try await withLane { loop, lane, _ in
      let writers = (0..<4).map { writer in
        Task(executorPreference: loop) {
          var written = Written()
          for step in 0..<60 as Range<Int64> {
            let id = ids[Int(step + Int64(writer)) % ids.count]
            let user = try state.user(id)
            let (after, event) = try TestUser.update(
              user,
              ["attributes": ["w\(writer)": .integer(.random(in: 0..<(1 << 50)))]]
            )
            // Some events fail as the registration of a user who is there.
            let sent = step % 17 == 16 ? event.with(expected: .zero) : event
            switch await lane.outcome(sent) {
            case .success:
              state.set(after)
              written.count += 1
            case .failure(.versionConflict):
              written.conflicts += 1
              state.set(try Self.load(id))
            case .failure(.taken), .failure(.failed): break
            case .failure(let error): throw error
            }
          }
          return written
        }
      }
      var total = Written()
      for writer in writers {
        let written = try await writer.value
        total.count += written.count
        total.conflicts += written.conflicts
      }
      return total
    }
  }

  private static func load(_ id: UserID) throws -> User {
    var parameters = Parameters()
    parameters.add(id)
    let rows = try TestDatabase.current.session().query(
      "select document, version, access_version from current_users where user_id = $1::uuid",
      parameters
    )
    return try User(
      document: Array(rows.bytes(0, 0)),
      version: Version(rows.integer(0, 1)),
      accessVersion: Version(rows.integer(0, 2))
    )
  }

  /// The users as the writers of one loop know them.
  private final class Shared: Sendable {
    private let users: Mutex<[UserID: User]>
    init(_ users: [UserID: User]) { self.users = Mutex(users) }
    func user(_ id: UserID) throws -> User { try #require(users.withLock { $0[id] }) }
    func set(_ user: User) { users.withLock { $0[user.id] = user } }
  }
}
