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
  ///
  /// `write` appends an item's JSON text.
  func response(_ request: Request, _ write: (Item, inout [UInt8]) -> Void) -> Response {
    var body = Array("{\"items\":[".utf8)
    for item in items {
      if body.last != UInt8(ascii: "[") { body.append(UInt8(ascii: ",")) }
      write(item, &body)
    }
    body += "],\"next\":".utf8
    (next.map(JSON.string) ?? .null).write(into: &body)
    body += "}".utf8
    var response = Response(status: 200, contentType: "application/json", body: body)
    response.add("Cache-Control", "private, no-cache")
    if let next {
      let kept =
        (request.query ?? "").split(separator: "&")
        .filter { !$0.hasPrefix("cursor=") } + ["cursor=\(next)"]
      response.add(
        "Link",
        "<\(request.path)?\(Self.escaped(kept.joined(separator: "&")))>; rel=\"next\""
      )
    }
    return response
  }

  /// The query with whatever a link can't hold percent-encoded (RFC 3986 section 2.1).
  private static func escaped(_ query: String) -> String {
    let isPlain: (UInt8) -> Bool = { (0x21...0x7E).contains($0) && !"\"<>".utf8.contains($0) }
    guard !query.utf8.allSatisfy(isPlain) else { return query }
    return query.utf8.map { byte in
      isPlain(byte)
        ? String(UnicodeScalar(byte))
        : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }
}
