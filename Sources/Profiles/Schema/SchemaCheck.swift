internal import JSON

/// One walk over attributes: it notes what the schema refuses, and returns the rest as stored.
struct SchemaCheck {
  /// The day that is `"today"` in a schema.
  let today: CalendarDate
  private(set) var errors: [FieldError] = []
  private var path: [String] = ["attributes"]

  init(today: CalendarDate) {
    self.today = today
  }

  /// Whether `value` is a whole, or a merge patch of which the stored value is the rest.
  enum Extent {
    case whole
    case patch
  }

  /// Checks all attributes, or a merge patch of them.
  mutating func attributes(
    _ value: JSONObject,
    _ rules: SchemaNode.ObjectRules,
    _ extent: Extent
  ) -> JSONObject {
    object(value, rules, extent)
  }

  /// Checks the attribute `name`.
  mutating func attribute(
    _ name: String,
    _ value: JSON,
    _ rules: SchemaNode.ObjectRules
  ) -> JSON {
    guard let node = rules.properties[name] ?? rules.additional else { return value }
    return at(name) { $0.check(value, node, .whole) }
  }

  /// Notes the required attributes among `names`, which are about to be missing.
  mutating func refuse(missing names: some Sequence<String>) {
    for name in names { at(name) { $0.note(.required, "This attribute is required.") } }
  }

  /// Notes that `name`, which is to be cleared, is neither stored nor known.
  mutating func refuseUnknown(_ name: String, _ rules: SchemaNode.ObjectRules) {
    guard rules.properties[name] == nil, rules.additional == nil else { return }
    at(name) { $0.noteUnknown() }
  }

  private mutating func noteUnknown() {
    note(.unknownField, "There is no such member.")
  }

  /// Notes an error about all attributes.
  mutating func refuseAttributes(_ code: FieldError.Code, _ detail: String) {
    note(code, detail)
  }

  mutating func note(_ code: FieldError.Code, _ detail: String) {
    guard errors.count < FieldError.maximumCount else { return }
    errors.append(FieldError(code, at: JSONPointer(path), detail))
  }

  private mutating func at<Result>(_ key: String, _ body: (inout Self) -> Result) -> Result {
    path.append(key)
    defer { path.removeLast() }
    return body(&self)
  }

  private mutating func check(_ value: JSON, _ node: SchemaNode, _ extent: Extent) -> JSON {
    guard path.count <= ProfileSchema.maximumDepth else {
      note(.outOfRange, "It nests more than \(ProfileSchema.maximumDepth) levels deep.")
      return value
    }
    let before = errors.count
    let checked = checkKind(value, node.kind, extent)
    if let allowed = node.allowed, errors.count == before, !allowed.contains(checked),
      // What a patch leaves out, the stored object may have; the whole is checked later.
      extent == .whole || checked.object == nil
    {
      note(.notAllowed, "It is none of the values that are allowed here.")
    }
    return checked
  }

  private mutating func checkKind(
    _ value: JSON,
    _ kind: SchemaNode.Kind,
    _ extent: Extent
  ) -> JSON {
    switch (kind, value) {
    case (.object(let rules), .object(let object)):
      return .object(self.object(object, rules, extent))
    case (.array(let rules), .array(let elements)):
      return array(elements, rules)
    case (.string(let rules), .string(let text)):
      return string(text, rules)
    case (.number(let rules), .integer), (.number(let rules), .real):
      return number(value, rules)
    case (.boolean, .bool): return value
    case (.anything, _): return anything(value, extent)
    case (.object, _): note(.wrongType, "An object is needed.")
    case (.array, _): note(.wrongType, "An array is needed.")
    case (.string, _): note(.wrongType, "A string is needed.")
    case (.number(let rules), _):
      note(.wrongType, rules.isInteger ? "A whole number is needed." : "A number is needed.")
    case (.boolean, _): note(.wrongType, "true or false is needed.")
    }
    return value
  }

  mutating func object(
    _ object: JSONObject,
    _ rules: SchemaNode.ObjectRules,
    _ extent: Extent
  ) -> JSONObject {
    var members: [JSONObject.Member] = []
    members.reserveCapacity(object.count)
    for member in object {
      let value = at(member.key) { $0.member(member, rules, extent) }
      members.append(.init(key: member.key, value: value))
    }
    if extent == .whole {
      for name in rules.required where object[name] == nil {
        at(name) { $0.note(.required, "This member is required.") }
      }
    }
    return JSONObject(members).sortedByKey()
  }

  private mutating func member(
    _ member: JSONObject.Member,
    _ rules: SchemaNode.ObjectRules,
    _ extent: Extent
  ) -> JSON {
    let property = rules.properties[member.key]
    guard let node = property ?? rules.additional else {
      // An attribute that a former schema knew can be cleared; whether it is stored is known when
      // the patch is decided on.
      if extent == .patch, member.value.isNull, path.count == 2 { return .null }
      noteUnknown()
      return member.value
    }
    if property == nil, !Self.isName(member.key) {
      note(
        .forbiddenCharacter,
        "A name has 1 to \(ProfileSchema.maximumNameLength) visible characters, in NFC."
      )
    }
    guard extent == .patch, member.value.isNull else {
      return check(member.value, node, extent)
    }
    if rules.required.contains(member.key) {
      note(.required, "This member is required and can't be cleared.")
    }
    return .null
  }

  mutating func array(_ elements: [JSON], _ rules: SchemaNode.ArrayRules) -> JSON {
    guard elements.count >= rules.lengths.lowerBound else {
      note(.tooShort, "At least \(rules.lengths.lowerBound) elements are needed.")
      return .array(elements)
    }
    guard elements.count <= rules.lengths.upperBound else {
      note(.tooLong, "At most \(rules.lengths.upperBound) elements are allowed.")
      return .array(elements)
    }
    // A merge patch replaces an array, so its elements are whole (RFC 7396).
    var checked: [JSON] = []
    for (index, element) in elements.enumerated() {
      checked.append(at(String(index)) { $0.check(element, rules.items, .whole) })
    }
    return .array(checked)
  }
}
