/// A JSON value (RFC 8259) whose numbers are kept exactly as they were sent, or refused.
///
/// Two values are equal where JSON Schema says so: `165` equals `165.0`, and the order of an
/// object's members doesn't count. Writing keeps what `==` doesn't see: an integer is written
/// as an integer, a real as the shortest decimal that reads back as the same `Double`, and
/// members in their order.
public enum JSON: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// A finite number that was written with a fraction or an exponent.
  case real(Double)
  case string(String)
  case array([JSON])
  case object(JSONObject)

  /// Objects and arrays inside one another, at most; a deeper text is malformed.
  public static let maximumDepth = 32
}

extension JSON {
  /// The text of a string; nil for everything else.
  @inlinable public var string: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// The value of an integer; nil for everything else, reals included.
  @inlinable public var integer: Int64? {
    guard case .integer(let value) = self else { return nil }
    return value
  }

  /// The value of a boolean; nil for everything else.
  @inlinable public var bool: Bool? {
    guard case .bool(let value) = self else { return nil }
    return value
  }

  /// The elements of an array; nil for everything else.
  @inlinable public var array: [JSON]? {
    guard case .array(let value) = self else { return nil }
    return value
  }

  /// The members of an object; nil for everything else.
  @inlinable public var object: JSONObject? {
    guard case .object(let value) = self else { return nil }
    return value
  }

  /// Whether this is `null`.
  @inlinable public var isNull: Bool {
    guard case .null = self else { return false }
    return true
  }
}
