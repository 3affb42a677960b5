import EventLog
import HTTP

/// What a request for a list of events asks, whichever list it is.
struct HistoryRequest {
  /// How entries are sent.
  enum Format: String {
    /// Pages of JSON.
    case json = "application/json"
    /// All of them, as a JSON object a line.
    case ndjson = "application/x-ndjson"
    /// All of them, as CSV.
    case csv = "text/csv"
  }

  static let parameters = HistoryFilter.parameters + ["stream", "order", "limit", "cursor"]

  let query: Query
  let filter: HistoryFilter
  let order: History.Order
  let format: Format

  /// Reads a request that may have the `known` parameters besides the usual ones.
  init(_ request: Request, known: [String] = []) throws(Problem) {
    query = try Query(request, known: Set(Self.parameters + known))
    format =
      Format(
        rawValue: Accept(request).preferred(
          [Format.json, .ndjson, .csv].map(\.rawValue)
        )
      ) ?? .json
    order = try query.choice(
      "order",
      [("desc", History.Order.newestFirst), ("asc", .oldestFirst)],
      standard: .newestFirst
    )
    do throws(HistoryFilterError) {
      let query = query
      filter = try HistoryFilter { query[$0] }
    } catch {
      throw .malformedRequest("The query parameter '\(error.parameter)' \(error.expectation).")
    }
  }

  /// `limit`: how long a page is.
  func pageLength() throws(Problem) -> Int { try query.limit() }

  /// `limit`: how many entries an export has; nil: all.
  func exportLength() throws(Problem) -> Int? {
    guard let text = query["limit"] else { return nil }
    guard let limit = Int(text), limit > 0 else {
      throw .malformedRequest("The query parameter 'limit' is a number above 0 here.")
    }
    return limit
  }

  /// `cursor`, in the list that `fingerprint` tells from others: a cursor goes on only there.
  func cursor(_ fingerprint: String) throws(Problem) -> Int64? {
    try query.cursor { text in
      let parts = text.split(separator: " ", omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0] == fingerprint, let place = Int64(parts[1]), place > 0
      else { return nil }
      return place
    }
  }
}
