import Clocks
import EventLog
import EventLoop
import JSON
import Postgres
import Profiles
import Projections
import TestSupport
import Testing

@Suite("A user of the past", .database)
struct PastUserTests {
  /// What was so when a version was the present one.
  private struct Seen: Sendable {
    let version: Version
    let document: [UInt8]
    let recordedAt: Timestamp
  }

  /// Appends what `log` says, and notes each version of each user as it comes.
  private static func record(
    _ count: Int,
    seed: UInt64,
    atOnce: Int
  ) async throws -> [UserID: [Seen]] {
    try await withLane { loop, lane, _ async throws in
      var log = RandomLog(seed: seed)
      var seen: [UserID: [Seen]] = [:]
      var tasks: [Task<(NewEvent, Appended), any Error>] = []
      func settle() async throws {
        for task in tasks {
          let (event, appended) = try await task.value
          guard let document = event.document else { continue }
          seen[event.user, default: []].append(
            Seen(
              version: appended.version,
              document: document,
              recordedAt: appended.recordedAt
            )
          )
        }
        tasks = []
      }
      for _ in 0..<count {
        let event = try log.next()
        if event.expected == .zero { try await settle() }
        tasks.append(Task(executorPreference: loop) { (event, try await lane.append(event)) })
        if event.expected == .zero || tasks.count == atOnce { try await settle() }
      }
      try await settle()
      return seen
    }
  }

  private static func fold(
    _ user: UserID,
    at moment: PastUser.Moment,
    _ connection: borrowing BlockingConnection
  ) throws -> CurrentUserRow? {
    var past = PastUser(of: user, at: moment)
    while let (statement, parameters) = past.nextPage {
      try past.add(connection.query(statement.sql, parameters), TestKeys.keyring)
    }
    return past.isReached ? past.row : nil
  }

  @Test(arguments: [(1, 1), (2, 1), (3, 8), (4, 64)] as [(UInt64, Int)])
  func `is as they were then, by version and by instant`(
    seed: UInt64,
    atOnce: Int
  ) async throws {
    let seen = try await Self.record(300, seed: seed, atOnce: atOnce)
    let connection = try TestDatabase.current.session()
    for (user, versions) in seen {
      #expect(versions.map(\.version.rawValue) == (1...Int32(versions.count)).map { $0 })
      for one in versions {
        let row = try #require(try Self.fold(user, at: .version(one.version), connection))
        #expect(row.user.document == one.document)
        #expect(row.user.version == one.version)
        #expect(row.updatedAt == one.recordedAt)
        #expect(row.createdAt == versions[0].recordedAt)
        for instant in [one.recordedAt, one.recordedAt + .microseconds(-1)] {
          let then = versions.last { $0.recordedAt <= instant }
          let row = try Self.fold(user, at: .instant(instant), connection)
          #expect(row?.user.version == then?.version)
          #expect(row?.user.document == then?.document)
        }
      }
      let latest = versions[versions.count - 1]
      #expect(try Self.fold(user, at: .version(latest.version.next), connection) == nil)
      #expect(try Self.fold(user, at: .version(.zero), connection) == nil)
      let future = latest.recordedAt + .seconds(86_400)
      let row = try Self.fold(user, at: .instant(future), connection)
      #expect(row?.user.document == latest.document)
    }
    #expect(try Self.fold(UserID(at: .now()), at: .version(Version(1)), connection) == nil)
  }

  @Test func `is folded over many pages, and on from an earlier one`() async throws {
    let count = PastUser.pageLength * 2 + 7
    let user = UserID(at: .now())
    let documents = try await withLane { _, lane, _ async throws in
      var (state, event) = try TestUser.new(id: user)
      _ = try await lane.append(event)
      var documents = [state.document]
      for number in 2...count {
        (state, event) = try TestUser.update(state, ["lastName": .string("Name \(number)")])
        _ = try await lane.append(event)
        documents.append(state.document)
      }
      return documents
    }
    let connection = try TestDatabase.current.session()
    var earlier: CurrentUserRow?
    for number in [1, PastUser.pageLength, PastUser.pageLength + 1, count - 1, count] {
      let moment = PastUser.Moment.version(Version(Int32(number)))
      let row = try #require(try Self.fold(user, at: moment, connection))
      #expect(row.user.document == documents[number - 1])
      var onwards = PastUser(of: user, at: moment, from: earlier)
      while let (statement, parameters) = onwards.nextPage {
        try onwards.add(connection.query(statement.sql, parameters), TestKeys.keyring)
      }
      #expect(onwards.row?.user == row.user)
      earlier = row
    }
  }
}
