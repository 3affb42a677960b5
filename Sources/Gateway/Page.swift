import HTTP
import JSON

/// One page of a list, and where the next one begins.
struct Page<Item> {
  private let items: ArraySlice<Item>
  private let next: String?

  /// A page of `limit` items; one more in `found` tells that there is a next page.
  init(_ found: [Item], limit: Int, cursor: (Item) -> String) {
    items = found.prefix(limit)
    next = found.count > limit ? items.last.map { Query.cursor(cursor($0)) } : nil
  }

  /// `{"items":[…],"next":…}`, and the next page as a link (RFC 8288).
  func response(_ request: Request, _ show: (Item) -> JSON) -> Response {
    let body: JSON = [
      "items": .array(items.map(show)), "next": next.map(JSON.string) ?? .null,
    ]
    var response = Response(status: 200, contentType: "application/json", body: body.bytes)
    response.add("Cache-Control", "private, no-cache")
    if let next {
      let kept =
        (request.query ?? "").split(separator: "&")
        .filter { !$0.hasPrefix("cursor=") } + ["cursor=\(next)"]
      response.add(
        "Link",
        "<\(request.path)?\(kept.joined(separator: "&"))>; rel=\"next\""
      )
    }
    return response
  }
}
