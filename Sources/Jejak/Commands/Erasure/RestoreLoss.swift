import Accounts
import Clocks
import EventLog
import MerkleTree
import Postgres
import Profiles
import Verification

/// Events that were there once, and that a restored log lacks.
///
/// What a log takes in after a restore stands where lost events stood, so its length tells nothing
/// from then on. An erasure that was done once more does: its event is not the one that the list
/// names, so the log of before ended before it.
struct RestoreLoss {
  /// How many, at least; nil where the log has gone on since, so that nobody can tell.
  let events: Int64?
  /// The last event of before that is still there, as far as that is known.
  let last: Int64
  /// When it was recorded; nil where `events` is, or where there is none.
  let since: Timestamp?

  /// What the log, which ends at `head`, lacks; nil for nothing.
  static func find(
    _ listed: [Erasure],
    _ kept: BackupReport.Kept?,
    head: Int64,
    _ connection: borrowing BlockingConnection
  ) throws -> RestoreLoss? {
    var stored: [UserID: Erasure] = [:]
    try Erasures.each(connection) { page in
      for erasure in page { stored[erasure.user] = erasure }
    }
    let signed = try signedSize(kept?.checkpoint, connection)
    var last = head
    var end = kept.flatMap { $0.isForeign ? nil : $0.checkpoint.size } ?? 0
    for erasure in listed {
      guard let found = stored[erasure.user] else {
        end = max(end, erasure.position.rawValue)
        continue
      }
      // Done once more, so the log was put back to before; but what is signed was taken in after an
      // earlier restore, one that was got over.
      guard found != erasure, found.position.rawValue > signed else { continue }
      end = max(end, erasure.position.rawValue)
      last = min(last, found.position.rawValue - 1)
    }
    if end > last {
      return RestoreLoss(events: end - last, last: last, since: try time(of: last, connection))
    }
    return kept?.has(.outsideDiffers) == true
      ? RestoreLoss(events: nil, last: last, since: nil) : nil
  }

  /// How many events are signed under the key of `checkpoint`, or under the log's last one where it
  /// is of none of the log's.
  private static func signedSize(
    _ checkpoint: OutsideCheckpoint?,
    _ connection: borrowing BlockingConnection
  ) throws -> Int64 {
    let rows = try connection.query(
      """
      select verifier_key, coalesce(max(size), 0) from log_origins left join checkpoints
       using (origin) group by origin, verifier_key order by origin desc
      """
    )
    let row = (0..<rows.count).first { row in
      NoteVerifier(rows.string(row, 0) ?? "").flatMap { checkpoint?.isSigned(by: $0) } ?? false
    }
    return rows.count == 0 ? 0 : rows.integer(row ?? 0, 1)
  }

  private static func time(
    of position: Int64,
    _ connection: borrowing BlockingConnection
  ) throws -> Timestamp? {
    let rows = try connection.query("select recorded_at from events where position = \(position)")
    return rows.count == 1 ? rows.timestamp(0, 0) : nil
  }
}
