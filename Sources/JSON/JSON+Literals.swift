// There is no nil literal: where a `JSON?` is expected, nil must mean "no value", never null.
extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }

  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// A real.
  public init(floatLiteral value: Double) { self = .real(value) }

  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// An array.
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }

  /// An object with its members in the order written.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(JSONObject(elements.map { .init(key: $0.0, value: $0.1) }))
  }
}
