import HTTP

/// The `Accept` of a request (RFC 9110 section 12.5.1).
struct Accept {
  /// Media ranges that are looked at; what stands behind them doesn't count.
  static let rangeLimit = 32

  private let ranges: [(type: String, quality: Double)]

  init(_ request: Request) {
    ranges = request.headers("Accept").joined(separator: ",").split(separator: ",")
      .prefix(Self.rangeLimit)
      .map { range in
        let parts = range.split(separator: ";").map { $0.trimmingSpaces().lowercased() }
        let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) }
        return (parts.first ?? "", (quality ?? 1) ?? 0)
      }
  }

  /// The one of `types` that the client likes best; of equals the first, and the first where
  /// nothing is acceptable or nothing was said.
  func preferred(_ types: [String]) -> String {
    var best = (type: types[0], quality: 0.0)
    for type in types where quality(of: type) > best.quality {
      best = (type, quality(of: type))
    }
    return best.type
  }

  private func quality(of type: String) -> Double {
    let family = type.prefix { $0 != "/" } + "/*"
    for name in [type, String(family), "*/*"] {
      if let range = ranges.first(where: { $0.type == name }) { return range.quality }
    }
    return 0
  }
}
