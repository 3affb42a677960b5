import Accounts
import EventLog
import HTTP
import Profiles
import Sodium

extension Gateway {
  /// Answers `GET /v1/users` to an operator.
  func listUsers(_ request: Request) async throws(Problem) -> Response {
    let query = try Query(
      request,
      known: ["email", "q", "status", "limit", "cursor", "order"]
    )
    let limit = try query.limit()
    let filter = try UserFilter(query)
    let email = try query.email("email")
    // A cursor goes on with the page it came from, in no other list.
    let list = "users \(filter.order.rawValue) \(filter.digest) "
    let cursor = try query.cursor { text in
      text.hasPrefix(list) ? Int64(text.dropFirst(list.count)).map { Position($0) } : nil
    }
    _ = try await self.operator(request, scope: .usersRead)
    if let email {
      let user = try await user(email, filter)
      return Page(user.map { [$0] } ?? [], limit: limit) { $0.id.description }
        .response(request) { $1 += UserDocument.body($0) }
    }
    let found: [ListedUser]
    do {
      found = try await accounts.users(filter, after: cursor, limit: limit + 1)
    } catch {
      throw Problem(error)
    }
    return Page(found, limit: limit) { list + $0.position.description }
      .response(request) { $1 += UserDocument.body($0.user) }
  }

  private func user(
    _ email: EmailAddress,
    _ filter: UserFilter
  ) async throws(Problem) -> CurrentUser? {
    do {
      return try await accounts.user(ofEmail: email, filter)
    } catch {
      throw Problem(error)
    }
  }
}

extension UserFilter {
  /// The filter that `q`, `status` and `order` make.
  init(_ query: Query) throws(Problem) {
    self.init(
      words: try query.words("q"),
      status: try query.choice(
        "status",
        User.Status.allCases.map { ($0.name, Optional($0)) },
        standard: nil
      ),
      order: try query.choice(
        "order",
        [("desc", History.Order.newestFirst), ("asc", .oldestFirst)],
        standard: .newestFirst
      )
    )
  }

  /// Tells lists of different users apart.
  var digest: String {
    // No word has a space in it.
    let text = "\(status?.name ?? "") " + words.joined(separator: " ")
    return Base64URL.encode(Array(SHA256.digest(of: text.utf8).prefix(9)))
  }
}

extension Query {
  /// `name` as an e-mail address.
  func email(_ name: String) throws(Problem) -> EmailAddress? {
    guard let text = self[name] else { return nil }
    guard let email = EmailAddress(text) else {
      throw .malformedRequest("The query parameter '\(name)' is not an e-mail address.")
    }
    return email
  }

  /// The words of `name`, a search; none where it is absent.
  func words(_ name: String) throws(Problem) -> [String] {
    guard let text = self[name] else { return [] }
    guard text.unicodeScalars.count <= SearchWords.maximumQueryLength else {
      throw .malformedRequest(
        "The query parameter '\(name)' has at most \(SearchWords.maximumQueryLength) characters."
      )
    }
    let words = SearchWords.words(ofQuery: text)
    guard (1...SearchWords.maximumQueryWords).contains(words.count) else {
      throw .malformedRequest(
        "The query parameter '\(name)' has from 1 to \(SearchWords.maximumQueryWords) words."
      )
    }
    return words
  }
}
