public import Clocks

/// What happened on one day, counted.
public struct DayCounts: Hashable, Sendable {
  /// The day, UTC, by the log's clock.
  public let day: Day
  /// Users who registered.
  public internal(set) var registrations: Int64 = 0
  /// Changes of profiles.
  public internal(set) var updates: Int64 = 0
  /// Changes of addresses.
  public internal(set) var emailChanges: Int64 = 0
  /// Changes of passwords.
  public internal(set) var passwordChanges: Int64 = 0
  /// Users who were suspended.
  public internal(set) var suspensions: Int64 = 0
  /// Users who were erased.
  public internal(set) var erasures: Int64 = 0
  /// Sessions that began.
  public internal(set) var signIns: Int64 = 0
  /// Wrong passwords.
  public internal(set) var failedSignIns: Int64 = 0
  /// Events of any kind.
  public internal(set) var events: Int64 = 0

  /// A day on which nothing has happened yet.
  init(day: Day) { self.day = day }
}
