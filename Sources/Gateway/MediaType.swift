/// The media type of a body (RFC 9110 section 8.3.1), as far as it decides who can read it.
struct MediaType {
  /// `type/subtype` in lower case.
  let essence: String
  /// The charset in lower case, where one is named.
  let charset: String?

  init(_ text: String) {
    let parts = text.split(separator: ";", omittingEmptySubsequences: false)
    essence = (parts.first ?? "").trimmingSpaces().lowercased()
    charset =
      parts.dropFirst().map { $0.trimmingSpaces().lowercased() }
      .first { $0.hasPrefix("charset=") }
      .map { $0.dropFirst("charset=".count).filter { $0 != "\"" } }
  }

  /// Whether `text` names JSON in UTF-8 as one of `names`.
  static func isJSON(_ text: String, _ names: [String]) -> Bool {
    // The plain name, which most clients send, needs no parsing.
    names.contains(text) || MediaType(text).isJSON(names)
  }

  /// Whether it is JSON in UTF-8 under one of these names.
  func isJSON(_ names: [String]) -> Bool {
    names.contains(essence) && (charset ?? "utf-8") == "utf-8"
  }
}
