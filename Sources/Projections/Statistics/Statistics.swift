public import Postgres
public import Clocks
public import EventLog
import Profiles

/// `statistics`: one row for each day on which anything happened.
public enum Statistics: TableProjection {
  /// The table.
  public static let name = "statistics"
  /// The definition's number.
  public static let revision: Int32 = 1
  /// By the runner.
  public static let mode = ProjectionMode.following
  /// A day has events of anyone.
  public static let partitioning = Partitioning.inSequence
  /// The header tells what is counted.
  public static let readsPayload = false

  /// The day on which the event was committed.
  public static func key(of event: RecordedEvent) -> Day? { Day(of: event.recordedAt) }

  /// The day with one more event.
  public static func apply(
    _ event: RecordedEvent,
    to row: DayCounts?
  ) throws(ProjectionError) -> DayCounts? {
    let kind = try event.knownKind()
    var row = row ?? DayCounts(day: Day(of: event.recordedAt))
    row.events += 1
    switch kind {
    case .userRegistered: row.registrations += 1
    case .profileUpdated: row.updates += 1
    case .emailChanged: row.emailChanges += 1
    case .passwordChanged: row.passwordChanges += 1
    case .userSuspended: row.suspensions += 1
    case .userErased: row.erasures += 1
    case .signedIn: row.signIns += 1
    case .signInFailed: row.failedSignIns += 1
    case .userReinstated, .signedOut, .sessionsRevoked: break
    }
    return row
  }
}
