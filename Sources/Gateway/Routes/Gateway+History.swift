import Accounts
import EventLog
import HTTP
import JSON
import Profiles

extension Gateway {
  /// Answers `GET /v1/users/me/history`.
  func history(_ request: Request) async throws(Problem) -> Response {
    let query = try Query(request, known: ["limit", "cursor", "order", "stream"])
    let limit = try query.limit()
    let order = try query.choice(
      "order",
      [("desc", History.Order.newestFirst), ("asc", .oldestFirst)],
      standard: .newestFirst
    )
    let stream = try query.choice(
      "stream",
      [("profile", Event.Stream.profile), ("access", .access)],
      standard: .profile
    )
    // A cursor goes on with the page it came from, in no other order or stream.
    let list = "\(stream.name) \(order.rawValue) "
    let cursor = try query.cursor { text in
      text.hasPrefix(list) ? Int32(text.dropFirst(list.count)).map { Version($0) } : nil
    }
    let holder = try await holder(request)
    let events: [RecordedEvent]
    do {
      events = try await accounts.history(
        of: holder.userID,
        stream: stream,
        order: order,
        after: cursor,
        limit: limit + 1
      )
    } catch {
      throw Problem(error)
    }
    return Page(events, limit: limit) { list + $0.version.description }
      .response(request) { $0.writeHistoryEntry(into: &$1) }
  }
}
