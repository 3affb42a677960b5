import Clocks
import EventLog
import Postgres
import Profiles

/// The right to run the followers, held by one process and kept by renewing it.
///
/// It only keeps processes from doing the same work twice: what each event has done is guarded by
/// the lock of the projection's row. Time is told by the database's clock alone.
struct RunnerLease {
  private let holder = EventID(at: .now())
  let length: Duration

  init(length: Duration) {
    self.length = length
  }

  /// Takes or renews the lease; false where another process holds it.
  func take(_ connection: borrowing BlockingConnection, patience: Duration) throws -> Bool {
    var parameters = Parameters()
    parameters.add(holder)
    parameters.add(length)
    let rows = try connection.query(
      """
      update projection_runner
         set holder = $1::uuid, held_until = clock_timestamp() + $2::interval
       where holder = $1::uuid or held_until < clock_timestamp()
          -- No process has taken it for so long: somebody else wrote that.
          or held_until > clock_timestamp() + $2::interval
      returning 1
      """,
      parameters,
      patience: patience
    )
    return rows.count == 1
  }

  /// Gives the lease up, so that another process goes on at once.
  func release(_ connection: borrowing BlockingConnection, patience: Duration) throws {
    var parameters = Parameters()
    parameters.add(holder)
    try connection.query(
      """
      update projection_runner set holder = null, held_until = '-infinity'
       where holder = $1::uuid
      """,
      parameters,
      patience: patience
    )
  }
}
