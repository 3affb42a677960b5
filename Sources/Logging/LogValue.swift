/// The value of a field.
public enum LogValue: Equatable, Sendable {
  /// Text that holds no personal data.
  case string(String)
  /// A whole number.
  case integer(Int)
  /// A measurement, its unit in the field's name.
  case number(Double)
  /// A yes or no.
  case boolean(Bool)
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int) { self = .integer(value) }
  /// A measurement.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// A yes or no.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
