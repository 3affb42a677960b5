import Accounts
import EventLog
import Postgres
import Profiles
import TestSupport
import Testing

@Suite("The list of users", .database)
struct UserListTests {
  /// What the directory is told of a user, and what a list must make of it.
  private struct Person {
    let position: Position
    let words: [String]
    let status: User.Status
  }

  /// More than the list looks through before it asks the index of words.
  private static let count = 7_000

  /// People of whom all have some words, few have others, and one in 97 is suspended.
  private static func addPeople(_ seed: UInt64) throws -> [Person] {
    var generator = SplitMix(state: seed)
    let names = ["Ada", "José", "Åsa", "Łukasz", "O'Neil", "Anne-Marie", "D\\'x & | !", "Zoë"]
    let people = (1...count).map { index in
      let rarity = Int.random(in: 0..<100, using: &generator)
      let name = rarity == 0 ? "Rare\(index % 7)" : names[index % names.count]
      return Person(
        // Other events stand between registrations.
        position: Position(Int64(index * 3)),
        words: SearchWords.words(
          email: "user\(index)@example.com",
          firstName: name,
          lastName: index < 40 ? "Earliest" : nil
        ),
        status: index % 97 == 0 ? .suspended : .active
      )
    }
    var parameters = Parameters()
    parameters.add(array: people) { $0.position.rawValue }
    parameters.add(array: people) { TextSearch.vector($0.words) }
    parameters.add(array: people) { $0.status.rawValue }
    let session = try TestDatabase.current.session()
    try session.query(
      """
      with people as (
        select gen_random_uuid() as id, position, words::tsvector, status
          from unnest($1::bigint[], $2::text[], $3::smallint[]) as p (position, words, status)),
      users as (
        insert into current_users
          select id, now(), now(), 1, 0, status, convert_to(position::text, 'UTF8') from people)
      insert into directory
        select id, position, now(), '', null, null, status, words from people
      """,
      parameters
    )
    try session.script("analyze directory; analyze current_users")
    return people
  }

  @Test(arguments: [1, 2])
  func `has everyone who passes, once, in order, whatever is asked`(seed: UInt64) async throws {
    let people = try Self.addPeople(seed)
    try await withAccounts { fixture async throws in
      let queries = [
        "", "example", "ex", "jose", "JOSE\u{301}", "rare", "rare3", "earliest", "user1",
        "user1@example.com", "ada exam", "asa earl", "lukasz rare", "neil", "oneil", "o’n",
        "annemarie", "d\\'x & |", "'", "\\", ":*", "nobody", "z", "() <-> !",
      ]
      for order in [History.Order.newestFirst, .oldestFirst] {
        for status in [nil, User.Status.active, .suspended] {
          for query in queries {
            let words = SearchWords.words(ofQuery: query)
            let filter = UserFilter(words: words, status: status, order: order)
            let expected = people.filter {
              (status == nil || $0.status == status)
                && SearchWords.areFound(words, in: $0.words)
            }.map(\.position)
            let limit = expected.count > 500 ? 1_000 : 7
            let found = try await Self.all(filter, fixture.accounts, limit: limit)
            let inOrder = order == .oldestFirst ? expected : expected.reversed()
            #expect(found == inOrder, "\(query) \(String(describing: status)) \(order)")
          }
        }
      }
    }
  }

  /// The positions in all pages of the list; each user must be the one that is shown.
  private static func all(
    _ filter: UserFilter,
    _ accounts: Accounts,
    limit: Int
  ) async throws -> [Position] {
    var found: [Position] = []
    while true {
      let page = try await accounts.users(filter, after: found.last, limit: limit)
      found += page.map(\.position)
      let shown = page.map { String(decoding: $0.user.document, as: UTF8.self) }
      #expect(shown == page.map(\.position.description))
      if page.count < limit { return found }
    }
  }

  @Test func `finds an address as soon as it is taken`() async throws {
    try await withAccounts { fixture async throws in
      let user = try await fixture.register("Ada@Bücher.example")
      let email = try #require(EmailAddress("ada@xn--bcher-kva.example"))
      func found(_ words: [String] = [], _ status: User.Status? = nil) async throws -> UserID? {
        let filter = UserFilter(words: words, status: status, order: .newestFirst)
        return try await fixture.accounts.user(ofEmail: email, filter)?.id
      }
      #expect(try await found() == user.id)
      #expect(try await found([], .active) == user.id)
      #expect(try await found([], .suspended) == nil)
      #expect(try await found(["ad", "buch"]) == user.id)
      #expect(try await found(["bob"]) == nil)
      let other = try #require(EmailAddress("ada@example.com"))
      let any = UserFilter(words: [], status: nil, order: .newestFirst)
      #expect(try await fixture.accounts.user(ofEmail: other, any) == nil)
    }
  }
}
