import Profiles

/// An entity tag (RFC 9110 section 8.8.3); ours are strong: the profile's version in quotes.
struct EntityTag: Equatable {
  let isWeak: Bool
  /// What stands between the quotes.
  let opaque: String

  static func text(_ version: Version) -> String { "\"\(version.rawValue)\"" }

  /// Whether the tag names `version` by the strong comparison, which no weak tag passes.
  func strongly(_ version: Version) -> Bool { !isWeak && opaque == "\(version.rawValue)" }

  /// Whether the tag names `version` by the weak comparison.
  func weakly(_ version: Version) -> Bool { opaque == "\(version.rawValue)" }

  /// The version that a strong tag names.
  var version: Version? { isWeak ? nil : Int32(opaque).map { Version($0) } }
}

/// The value of If-Match or If-None-Match: `*`, or a list of tags.
enum EntityTags {
  case any
  case list([EntityTag])

  /// Tags of one header at most.
  static let limit = 64

  /// The tags of all lines of the header; nil where they are malformed.
  init?(_ lines: [String]) {
    let text = lines.joined(separator: ",")
    if text.trimmingSpaces() == "*" {
      self = .any
      return
    }
    var tags: [EntityTag] = []
    var rest = Substring(text)
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
      guard !rest.isEmpty else { break }
      let isWeak = rest.hasPrefix("W/")
      if isWeak { rest = rest.dropFirst(2) }
      guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else { return nil }
      tags.append(
        EntityTag(isWeak: isWeak, opaque: String(rest[rest.startIndex..<end].dropFirst()))
      )
      rest = rest[rest.index(after: end)...].drop { $0 == " " || $0 == "\t" }
      guard rest.isEmpty || rest.first == ",", tags.count <= Self.limit else { return nil }
    }
    guard !tags.isEmpty else { return nil }
    self = .list(tags)
  }
}

extension StringProtocol {
  /// The text without spaces and tabs at its ends.
  func trimmingSpaces() -> String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    let start = drop(while: isSpace)
    guard let last = start.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(start[...last])
  }
}
