import JSON

/// A history entry as lines for a person.
enum HistoryText {
  static func entry(_ entry: JSON) -> String {
    let members = entry.object ?? [:]
    func text(_ value: JSON?) -> String {
      guard let value, !value.isNull else { return "-" }
      return visible(value.string ?? String(decoding: value.bytes, as: UTF8.self))
    }
    let actor = members["actor"]?.object ?? [:]
    let source = members["source"]?.object ?? [:]
    let user = members["user"].map { "  user \(text($0))" } ?? ""
    let name = actor["name"].map { " (\(text($0)))" } ?? ""
    let isErased = members["erased"] != nil
    let unreadable = members["unreadable"]
    // Without the payload nobody knows from where it came.
    let origin =
      isErased || unreadable != nil
      ? ""
      : " from \(text(source["address"])) with \(text(source["agent"])),"
        + " session \(text(source["session"]))"
    var lines = [
      "\(text(members["recordedAt"]))  \(text(members["type"]))  version \(text(members["version"]))"
        + "  position \(text(members["position"]))" + user,
      "    by \(text(actor["kind"])) \(text(actor["id"]))\(name)\(origin),"
        + " request \(text(source["requestId"]))",
    ]
    for name in ["session", "count", "kept", "reverts"] {
      if let value = members[name] { lines.append("    \(name): \(text(value))") }
    }
    for change in members["changes"]?.array ?? [] {
      let change = change.object ?? [:]
      let values = isErased ? "erased" : "\(text(change["old"])) → \(text(change["new"]))"
      lines.append("    \(text(change["field"])): \(values)")
    }
    if isErased { lines.append("    erased: the values are gone") }
    if let unreadable { lines.append("    unreadable: \(text(unreadable))") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The text without what a terminal would obey.
  static func visible(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      let category = scalar.properties.generalCategory
      if category == .control || category == .format && scalar.value != 0x200D {
        shown += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }
}
