/// A place in the log: 1 for the first event, without a hole, in commit order.
public struct Position: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number that the database keeps.
  public let rawValue: Int64

  /// The place with that number.
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// The place before the first event.
  public static let start = Position(0)

  /// The number in decimal digits.
  public var description: String { rawValue.description }

  /// Whether `left` was committed before `right`.
  public static func < (left: Position, right: Position) -> Bool { left.rawValue < right.rawValue }
}
