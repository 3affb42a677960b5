import Accounts
import Clocks
import HTTP
import JSON

extension Gateway {
  /// Days of an answer where the request doesn't say since when.
  private static let usualDays: Int32 = 30

  /// Answers `GET /v1/statistics` to an operator.
  func statistics(_ request: Request) async throws(Problem) -> Response {
    let query = try Query(request, known: ["since", "until"])
    let last = try query.day("until") ?? Day(of: .now())
    let first =
      try query.day("since")
      ?? Day(daysSince1970: last.daysSince1970 - (Self.usualDays - 1))
    guard first <= last || query["until"] != nil else {
      throw .malformedRequest(
        "The query parameter 'since' is a day that is yet to come, and 'until' is today unless given."
      )
    }
    guard first <= last else {
      throw .malformedRequest("The query parameter 'since' is a day after 'until'.")
    }
    guard last.daysSince1970 - first.daysSince1970 < Accounts.statisticsLimit else {
      throw .malformedRequest(
        "From 'since' to 'until' there are at most \(Accounts.statisticsLimit) days."
      )
    }
    _ = try await self.operator(request, scope: .usersRead)
    let found: [DayStatistics]
    do {
      found = try await accounts.statistics(of: first...last)
    } catch {
      throw Problem(error)
    }
    let items = found.map { day in
      JSON.object(
        JSONObject(
          [.init(key: "day", value: .string(day.day.description))]
            + day.counts.map { .init(key: $0.key, value: .integer($0.value)) }
        )
      )
    }
    var response = Response(
      status: 200,
      contentType: "application/json",
      body: JSON.object(["items": .array(items)]).bytes
    )
    response.add("Cache-Control", "private, no-cache")
    return response
  }
}

extension Query {
  /// `name` as a day, UTC.
  func day(_ name: String) throws(Problem) -> Day? {
    guard let text = self[name] else { return nil }
    guard let begin = Timestamp(startOfDay: text) else {
      throw .malformedRequest("The query parameter '\(name)' is a day, YYYY-MM-DD.")
    }
    return Day(of: begin)
  }
}
