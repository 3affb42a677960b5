internal import JSON

/// The keywords of one schema object, each asked for once; what nobody asked for is unknown.
struct SchemaReader {
  let pointer: JSONPointer
  private let keywords: JSONObject
  private var unread: Set<String>

  private static let annotations: Set = [
    "title", "description", "default", "examples", "$schema", "$id", "$comment",
  ]

  init(_ json: JSON, at pointer: JSONPointer) throws(SchemaError) {
    guard case .object(let object) = json else {
      throw SchemaError(at: pointer, "A schema is an object.")
    }
    self.pointer = pointer
    keywords = object
    unread = Set(object.map(\.key)).subtracting(Self.annotations)
  }

  /// The value of `keyword`, if it is there.
  mutating func take(_ keyword: String) -> JSON? {
    unread.remove(keyword)
    return keywords[keyword]
  }

  /// The text of `keyword`, if it is there.
  mutating func string(_ keyword: String) throws(SchemaError) -> String? {
    guard let value = take(keyword) else { return nil }
    guard let text = value.string else { throw error(keyword, "A string is needed.") }
    return text
  }

  /// The number of `keyword`, if it is there.
  mutating func number(_ keyword: String) throws(SchemaError) -> JSON? {
    switch take(keyword) {
    case nil: return nil
    case .integer(let value): return .integer(value)
    case .real(let value): return .real(value)
    default: throw error(keyword, "A number is needed.")
    }
  }

  /// The lengths between two keywords; an upper one may only be lower than `limit`.
  mutating func lengths(
    _ minimum: String,
    _ maximum: String,
    limit: Int,
    standard: Int
  ) throws(SchemaError) -> ClosedRange<Int> {
    let lower = try length(minimum) ?? 0
    let upper = try length(maximum) ?? max(standard, lower)
    guard upper <= limit else { throw error(maximum, "At most \(limit).") }
    guard lower <= upper else { throw error(minimum, "It is greater than \(maximum).") }
    return lower...upper
  }

  private mutating func length(_ keyword: String) throws(SchemaError) -> Int? {
    guard let value = try number(keyword) else { return nil }
    guard case .integer(let length) = value, (0...Int64(Int32.max)).contains(length) else {
      throw error(keyword, "A whole number from 0 is needed.")
    }
    return Int(length)
  }

  /// Refuses the keywords that nobody has read.
  func finish() throws(SchemaError) {
    guard let keyword = unread.sorted().first else { return }
    throw error(keyword, "This keyword is not supported here.")
  }

  func error(_ keyword: String, _ detail: String) -> SchemaError {
    SchemaError(at: pointer.appending(keyword), detail)
  }
}
