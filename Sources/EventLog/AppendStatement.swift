import JSON
public import Postgres
import Profiles
import Sodium

/// The call of `append_events`.
public enum AppendStatement {
  /// The statement, to be prepared on connections that append.
  public static let statement = Statement(
    "append_events",
    """
    select head, appended_at, versions from append_events(
      $1::uuid[], $2::smallint[], $3::smallint[], $4::boolean[], $5::integer[], $6::uuid[],
      $7::uuid[], $8::text[], $9::smallint[], $10::smallint[], $11::uuid[], $12::text[],
      $13::text[], $14::text[], $15::bytea[], $16::bytea[], $17::bytea[], $18::smallint[],
      $19::bytea[], $20::bytea[], $21::bytea[], $22::boolean)
    """
  )

  /// Binds a batch; with `strict`, one event that lost undoes them all.
  ///
  /// Events of one user are of one stream and stand in order, each decided on the one before it.
  public static func parameters(_ batch: [NewEvent], strict: Bool) -> Parameters {
    let payloads = batch.map(payload(of:))
    let (ranks, isLast, statuses) = chains(batch)
    var parameters = Parameters()
    parameters.add(array: batch) { $0.user }
    parameters.add(array: batch) { $0.event.stream.rawValue }
    parameters.add(array: ranks) { $0 }
    parameters.add(array: isLast) { $0 }
    parameters.add(array: batch) { $0.expected.rawValue }
    parameters.add(array: batch) { $0.event.stream == .access ? nil : $0.source.session }
    parameters.add(array: batch) { $0.id }
    parameters.add(array: batch) { $0.event.type }
    parameters.add(array: batch) { $0.event.schema }
    parameters.add(array: batch) { $0.actor.kind }
    parameters.add(array: batch) { $0.actor.id }
    parameters.add(array: batch) { $0.source.requestID }
    parameters.add(array: batch) { $0.source.traceID }
    parameters.add(array: batch) { TextArray.literal($0.event.changedFields) }
    parameters.add(array: payloads) { $0 }
    parameters.add(array: payloads) { SHA256.digest(of: $0) }
    // Of a chain only the last document is written; the others need not be sent.
    parameters.add(array: batch.indices) { isLast[$0] ? batch[$0].document : nil }
    parameters.add(array: batch.indices) {
      isLast[$0] ? batch[$0].status ?? statuses[$0] : nil
    }
    parameters.add(array: batch) { $0.receipt?.key }
    parameters.add(array: batch) { $0.receipt?.request }
    parameters.add(array: batch) { $0.receipt?.answer }
    parameters.add(strict)
    return parameters
  }

  /// Reads where each event of a batch landed; nil for one whose version was not the expected.
  public static func outcome(_ rows: Rows) -> [Appended?] {
    var position: Int64 = rows.integer(0, 0)
    let recordedAt = rows.timestamp(0, 1)
    return rows.integers(0, 2, as: Int32.self).map { version in
      guard let version else { return nil }
      position += 1
      return Appended(
        position: Position(position),
        version: Version(version),
        recordedAt: recordedAt
      )
    }
  }

  /// Each event's place among those of its user, whether it is the last of them, and the status
  /// that those before it left, where it has none itself.
  private static func chains(
    _ batch: [NewEvent]
  ) -> (ranks: [Int16], isLast: [Bool], statuses: [Int: Int16]) {
    var statuses: [Int: Int16] = [:]
    var ranks = [Int16](repeating: 0, count: batch.count)
    var isLast = [Bool](repeating: true, count: batch.count)
    guard batch.count > 1 else { return (ranks, isLast, statuses) }
    var latest = [UserID: Int](minimumCapacity: batch.count)
    for (index, event) in batch.enumerated() {
      guard let previous = latest.updateValue(index, forKey: event.user) else { continue }
      ranks[index] = ranks[previous] + 1
      isLast[previous] = false
      if batch[index].status == nil {
        statuses[index] = batch[previous].status ?? statuses[previous]
      }
    }
    return (ranks, isLast, statuses)
  }

  /// The sealed payload; its place is known, since an event is the next of what it was decided on.
  private static func payload(of event: NewEvent) -> [UInt8] {
    var source: JSONObject = [:]
    source["address"] = event.source.address.map(JSON.string)
    source["agent"] = event.source.agent.map(JSON.string)
    source["session"] = event.source.session.map { .string($0.description) }
    return Sealing.seal(
      event.event.payload(source: .object(source)).bytes,
      at: Sealing.Place(
        user: event.user,
        stream: event.event.stream.rawValue,
        version: event.expected.next,
        type: event.event.type,
        schema: event.event.schema
      ),
      key: event.key
    )
  }
}
