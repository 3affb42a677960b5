internal import JSON

/// What one value may be.
struct SchemaNode: Sendable {
  let kind: Kind
  /// The values of `enum` or `const`, if the schema lists them.
  let allowed: [JSON]?

  indirect enum Kind: Sendable {
    case object(ObjectRules)
    case array(ArrayRules)
    case string(StringRules)
    case number(NumberRules)
    case boolean
    case anything
  }

  struct ObjectRules: Sendable {
    var properties: [String: SchemaNode] = [:]
    var required: [String] = []
    /// What a member that `properties` doesn't name may be; nil forbids it.
    var additional: SchemaNode?
  }

  struct ArrayRules: Sendable {
    var items: SchemaNode
    var lengths: ClosedRange<Int>
  }

  struct StringRules: Sendable {
    var lengths = 0...ProfileSchema.defaultMaximumLength
    var date: DateRules?
  }

  struct DateRules: Sendable {
    var earliest: DateBound?
    var latest: DateBound?
  }

  enum DateBound: Sendable {
    case date(CalendarDate)
    case today

    func date(today: CalendarDate) -> CalendarDate {
      switch self {
      case .date(let date): date
      case .today: today
      }
    }
  }

  struct NumberRules: Sendable {
    var isInteger: Bool
    var minimum: JSON?
    var maximum: JSON?
    var exclusiveMinimum: JSON?
    var exclusiveMaximum: JSON?
  }

  /// A member of an open object, which no schema describes.
  static let anything = SchemaNode(kind: .anything, allowed: nil)
}
