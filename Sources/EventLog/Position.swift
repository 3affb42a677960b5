/// A place in the log: 1 for the first event, without a hole, in commit order.
public struct Position: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number that the database keeps.
  public let rawValue: Int64

  /// The place with that number.
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// The place before the first event.
  public static let start = Position(0)

  /// The last place that a log can come to: sums and differences of places up to here are never out
  /// of range.
  public static let limit = Position(1 << 62 - 1)

  /// The place after this one; one that no number is left for is its own.
  public var next: Position { Position(rawValue == .max ? .max : rawValue + 1) }

  /// Whether a log can have come so far; another place was written by somebody else.
  public var isPossible: Bool { (0...Position.limit.rawValue).contains(rawValue) }

  /// The number in decimal digits.
  public var description: String { rawValue.description }

  /// Whether `left` was committed before `right`.
  public static func < (left: Position, right: Position) -> Bool { left.rawValue < right.rawValue }
}
