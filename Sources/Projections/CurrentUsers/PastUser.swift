public import Clocks
import EventLog
public import Keys
public import Postgres
public import Profiles

/// A user as they were at some moment: folded from their own events, by what folds the present.
///
/// Reads nothing itself: whoever has a connection runs `nextPage` and hands over its rows, until
/// there is no next page. Memory is that of one page, however long the history.
public struct PastUser: Sendable {
  /// Which moment of a profile is meant.
  public enum Moment: Hashable, Sendable {
    /// When this version was the present one.
    case version(Version)
    /// What the log said at this instant.
    case instant(Timestamp)
  }

  /// Events that are read at once.
  public static let pageLength = 200

  /// The row at the moment; nil where the user wasn't registered yet.
  public private(set) var row: CurrentUserRow?
  private let user: UserID
  private let moment: Moment
  private var isComplete: Bool
  /// Whether the user has been erased: then there is no moment at which anything is known of them.
  public private(set) var isErased = false

  /// The user at `moment`, folded on from an `earlier` row where there is one.
  public init(of user: UserID, at moment: Moment, from earlier: CurrentUserRow? = nil) {
    self.user = user
    self.moment = moment
    row = earlier
    isComplete = false
    isComplete = left == 0
  }

  /// The statement, one of `History.statements`, that reads the next events; nil at the end.
  public var nextPage: (Statement, Parameters)? {
    guard !isComplete else { return nil }
    return History.page(
      of: user,
      stream: .profile,
      order: .oldestFirst,
      after: row?.user.version,
      limit: left
    )
  }

  /// Folds the rows of the next page.
  public mutating func add(_ page: Rows, _ keyring: Keyring) throws(ProjectionError) {
    let limit = left
    var reader = EventReader(keyring)
    for index in 0..<page.count {
      let event = reader.event(page, index)
      guard !event.isErased else {
        (row, isErased, isComplete) = (nil, true, true)
        return
      }
      if case .instant(let instant) = moment, event.recordedAt > instant {
        isComplete = true
        return
      }
      row = try CurrentUserRow.apply(event, to: row)
    }
    isComplete = page.count < limit || left == 0
  }

  /// Whether the moment has come; false where the user has no such version.
  public var isReached: Bool {
    switch moment {
    case .version(let version): row?.user.version == version
    case .instant: row != nil
    }
  }

  /// Events that the next page may have.
  private var left: Int {
    guard case .version(let version) = moment else { return Self.pageLength }
    let reached = row?.user.version ?? .zero
    return min(Self.pageLength, max(0, Int(version.rawValue) - Int(reached.rawValue)))
  }
}
