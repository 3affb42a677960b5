/// How many events a stream of one user holds; the profile stream's version is the ETag.
@frozen
public struct Version: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number that the database keeps.
  public let rawValue: Int32

  /// The version with that number.
  @inlinable
  public init(_ rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// The version of a stream without events.
  public static let zero = Version(0)

  /// The version after one more event; one that no number is left for is its own, and the database
  /// refuses the event.
  @inlinable public var next: Version { Version(rawValue == .max ? .max : rawValue + 1) }

  /// The number in decimal digits.
  public var description: String { rawValue.description }

  /// Whether `left` came first.
  @inlinable
  public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
}
