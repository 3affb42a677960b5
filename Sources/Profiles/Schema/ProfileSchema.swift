public import JSON

/// Which attributes a profile may have, and what each may hold.
///
/// It is written in a subset of JSON Schema 2020-12, the root an object:
/// - `object`: `properties`, `required`, `additionalProperties`;
/// - `array`: `items`, `minItems`, `maxItems`;
/// - `string`: `minLength`, `maxLength` (code points), `format` of `date`, and with it
///   `formatMinimum` and `formatMaximum`, a date or `"today"` (an extension that Ajv has too);
/// - `number`, `integer`: `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`;
/// - `boolean`; and with any type or none, `enum` and `const`.
///
/// `title`, `description`, `default`, `examples`, `$schema`, `$id` and `$comment` say nothing
/// about validity; any other keyword is refused rather than ignored. One rule departs from the
/// standard: without `additionalProperties` an object is closed, so that a misspelt attribute
/// is an error and not a new attribute.
public struct ProfileSchema: Sendable {
  let root: SchemaNode.ObjectRules
  /// The text that this schema was read from.
  public let json: JSON

  /// Bytes of all attributes of a profile as JSON, at most.
  public static let maximumSize = 32_768
  /// Objects and arrays inside one attribute, at most; an event's payload nests them deeper.
  public static let maximumDepth = 16
  /// Code points in a string whose schema names no `maxLength`.
  public static let defaultMaximumLength = 1000
  /// Elements in an array whose schema names no `maxItems`.
  public static let defaultMaximumItems = 256
  /// Code points in the name of an attribute, at most.
  public static let maximumNameLength = 100
  /// Beyond it, 2⁵³, a `Double` can't tell whole numbers apart; a larger real is refused.
  public static let maximumReal = 9_007_199_254_740_992.0

  /// The schema that `json` spells.
  public init(_ json: JSON) throws(SchemaError) {
    let node = try SchemaNode(json, at: .root, depth: 0)
    guard case .object(let rules) = node.kind, node.allowed == nil else {
      throw SchemaError(at: "/type", "The schema of a profile is of type object.")
    }
    root = rules
    self.json = json
  }

  /// The schema of a service that was given none.
  public static let standard: ProfileSchema = {
    do throws(SchemaError) {
      return try ProfileSchema([
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": [
          "dateOfBirth": [
            "type": "string", "format": "date",
            "formatMinimum": "1900-01-01", "formatMaximum": "today",
          ],
          "height": ["type": "number", "exclusiveMinimum": 0, "description": "cm"],
          "weight": ["type": "integer", "exclusiveMinimum": 0, "description": "kg"],
          "isMarried": ["type": "boolean"],
        ],
        "additionalProperties": false,
      ])
    } catch {
      // The literal above is constant, and a test reads it.
      preconditionFailure("\(error.pointer): \(error.detail)")
    }
  }()
}

/// What a schema file gets wrong; the service refuses to start and shows it.
public struct SchemaError: Error, Hashable, Sendable {
  /// The keyword.
  public let pointer: JSONPointer
  /// What a person reads.
  public let detail: String

  init(at pointer: JSONPointer, _ detail: String) {
    self.pointer = pointer
    self.detail = detail
  }
}
