import HTTP

/// What a client takes (RFC 9110 section 12.5.1).
struct Accept {
  /// Ranges of one header at most; what is beyond isn't looked at.
  static let limit = 64

  private struct Range {
    let type: Substring
    let subtype: Substring
    let quality: Double
  }

  private let ranges: [Range]

  init(_ request: Request) {
    let lines = request.headers("Accept")
    ranges =
      lines.joined(separator: ",").split(separator: ",").prefix(Self.limit)
      .compactMap { Self.range(String($0)) }
  }

  /// The one of `types` that the client likes best, nil where it takes none.
  ///
  /// Of several it is the one that is named most exactly, and then the first; without any wish the
  /// first. `types` are written as `type/subtype`, in lower case.
  func best(of types: [String]) -> String? {
    guard !ranges.isEmpty else { return types.first }
    var best: (type: String, quality: Double, exactness: Int)?
    for type in types {
      guard let (quality, exactness) = wish(for: type), quality > 0 else { continue }
      if let best, (best.quality, best.exactness) >= (quality, exactness) { continue }
      best = (type, quality, exactness)
    }
    return best?.type
  }

  /// As `best`, but the first where nothing is acceptable.
  func preferred(_ types: [String]) -> String { best(of: types) ?? types[0] }

  /// The quality of the most exact range that holds `type`.
  private func wish(for type: String) -> (quality: Double, exactness: Int)? {
    let parts = type.split(separator: "/")
    let exact = ranges.first { $0.type == parts[0] && $0.subtype == parts[1] }
    if let exact { return (exact.quality, 2) }
    let kind = ranges.first { $0.type == parts[0] && $0.subtype == "*" }
    if let kind { return (kind.quality, 1) }
    return ranges.first { $0.type == "*" && $0.subtype == "*" }.map { ($0.quality, 0) }
  }

  private static func range(_ text: String) -> Range? {
    let parts = text.lowercased().split(separator: ";").map { $0.trimmingSpaces() }
    let names = (parts.first ?? "").split(separator: "/")
    guard names.count == 2 else { return nil }
    let quality = parts.dropFirst().first { $0.hasPrefix("q=") }
      .map { Double($0.dropFirst(2)) ?? 0 }
    return Range(type: names[0], subtype: names[1], quality: quality ?? 1)
  }
}
