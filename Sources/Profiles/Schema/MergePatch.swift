internal import JSON

extension JSON {
  /// `target` with this merge patch applied to it (RFC 7396).
  func merged(into target: JSON?) -> JSON {
    guard case .object(let patch) = self else { return self }
    var result = target?.object ?? JSONObject()
    for member in patch {
      result[member.key] =
        member.value.isNull ? nil : member.value.merged(into: result[member.key])
    }
    return .object(result.sortedByKey())
  }
}
