internal import JSON

extension SchemaNode {
  /// The node that `json` spells, `depth` levels below the root.
  init(_ json: JSON, at pointer: JSONPointer, depth: Int) throws(SchemaError) {
    guard depth <= ProfileSchema.maximumDepth else {
      throw SchemaError(at: pointer, "The schema nests too deeply.")
    }
    var reader = try SchemaReader(json, at: pointer)
    allowed = try Self.allowedValues(&reader)
    switch try reader.string("type") {
    case "object": kind = .object(try ObjectRules(&reader, depth: depth))
    case "array": kind = .array(try ArrayRules(&reader, depth: depth))
    case "string": kind = .string(try StringRules(&reader))
    case "number": kind = .number(try NumberRules(&reader, isInteger: false))
    case "integer": kind = .number(try NumberRules(&reader, isInteger: true))
    case "boolean": kind = .boolean
    case nil where allowed != nil: kind = .anything
    case nil: throw SchemaError(at: pointer, "A schema has a type, an enum or a const.")
    default:
      throw reader.error(
        "type",
        "One of object, array, string, number, integer and boolean is needed."
      )
    }
    try reader.finish()
  }

  private static func allowedValues(_ reader: inout SchemaReader) throws(SchemaError) -> [JSON]? {
    let constant = reader.take("const")
    guard let list = reader.take("enum") else { return constant.map { [$0] } }
    guard let values = list.array, !values.isEmpty else {
      throw reader.error("enum", "A list of values is needed.")
    }
    guard let constant else { return values }
    return values.filter { $0 == constant }
  }
}

extension SchemaNode.ObjectRules {
  fileprivate init(_ reader: inout SchemaReader, depth: Int) throws(SchemaError) {
    if let json = reader.take("properties") {
      guard let members = json.object else {
        throw reader.error("properties", "An object is needed.")
      }
      let parent = reader.pointer.appending("properties")
      for member in members {
        let pointer = parent.appending(member.key)
        guard SchemaCheck.isName(member.key) else {
          throw SchemaError(
            at: pointer,
            "A name has 1 to \(ProfileSchema.maximumNameLength) visible characters, in NFC."
          )
        }
        properties[member.key] = try SchemaNode(member.value, at: pointer, depth: depth + 1)
      }
    }
    switch reader.take("additionalProperties") {
    case nil, .bool(false): additional = nil
    case .bool(true): additional = .anything
    case let json?:
      additional = try SchemaNode(
        json,
        at: reader.pointer.appending("additionalProperties"),
        depth: depth + 1
      )
    }
    guard let names = reader.take("required") else { return }
    guard let list = names.array else { throw reader.error("required", "A list is needed.") }
    for name in list {
      guard let name = name.string, properties[name] != nil || additional != nil else {
        throw reader.error("required", "It names what properties does not.")
      }
      required.append(name)
    }
  }
}

extension SchemaNode.ArrayRules {
  fileprivate init(_ reader: inout SchemaReader, depth: Int) throws(SchemaError) {
    guard let json = reader.take("items") else {
      throw reader.error("items", "The schema of the elements is needed.")
    }
    items = try SchemaNode(json, at: reader.pointer.appending("items"), depth: depth + 1)
    lengths = try reader.lengths(
      "minItems",
      "maxItems",
      limit: ProfileSchema.maximumSize,
      standard: ProfileSchema.defaultMaximumItems
    )
  }
}

extension SchemaNode.StringRules {
  fileprivate init(_ reader: inout SchemaReader) throws(SchemaError) {
    lengths = try reader.lengths(
      "minLength",
      "maxLength",
      limit: ProfileSchema.maximumSize,
      standard: ProfileSchema.defaultMaximumLength
    )
    guard let format = try reader.string("format") else { return }
    guard format == "date" else { throw reader.error("format", "Only date is supported.") }
    date = SchemaNode.DateRules(
      earliest: try Self.bound("formatMinimum", &reader),
      latest: try Self.bound("formatMaximum", &reader)
    )
  }

  private static func bound(
    _ keyword: String,
    _ reader: inout SchemaReader
  ) throws(SchemaError) -> SchemaNode.DateBound? {
    guard let text = try reader.string(keyword) else { return nil }
    if text == "today" { return .today }
    guard let date = CalendarDate(text) else {
      throw reader.error(keyword, "A date (YYYY-MM-DD) or \"today\" is needed.")
    }
    return .date(date)
  }
}

extension SchemaNode.NumberRules {
  fileprivate init(_ reader: inout SchemaReader, isInteger: Bool) throws(SchemaError) {
    self.isInteger = isInteger
    minimum = try reader.number("minimum")
    maximum = try reader.number("maximum")
    exclusiveMinimum = try reader.number("exclusiveMinimum")
    exclusiveMaximum = try reader.number("exclusiveMaximum")
  }
}
