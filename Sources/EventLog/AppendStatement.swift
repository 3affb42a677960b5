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
    select ordinal, position, version, recorded_at from append_events(
      $1::uuid[], $2::smallint[], $3::integer[], $4::uuid[], $5::text[], $6::smallint[],
      $7::smallint[], $8::uuid[], $9::text[], $10::text[], $11::text[], $12::bytea[],
      $13::bytea[], $14::bytea[], $15::smallint[], $16::bytea[], $17::bytea[], $18::bytea[],
      $19::boolean)
    """)

  /// Binds a batch; with `strict`, one event that lost undoes them all.
  public static func parameters(_ batch: [NewEvent], strict: Bool) -> Parameters {
    let payloads = batch.map { Sealing.seal(payload(of: $0)) }
    var parameters = Parameters()
    parameters.add(array: batch) { $0.user }
    parameters.add(array: batch) { $0.event.stream.rawValue }
    parameters.add(array: batch) { $0.expected?.rawValue }
    parameters.add(array: batch) { $0.id }
    parameters.add(array: batch) { $0.event.type }
    parameters.add(array: batch) { $0.event.schema }
    parameters.add(array: batch) { $0.actor.kind }
    parameters.add(array: batch) { $0.actor.id }
    parameters.add(array: batch) { $0.source.requestID }
    parameters.add(array: batch) { $0.source.traceID }
    parameters.add(array: batch) { arrayLiteral($0.event.changedFields) }
    parameters.add(array: payloads) { $0 }
    parameters.add(array: payloads) { SHA256.digest(of: $0) }
    parameters.add(array: batch) { $0.document }
    parameters.add(array: batch) { $0.status }
    parameters.add(array: batch) { $0.receipt?.key }
    parameters.add(array: batch) { $0.receipt?.request }
    parameters.add(array: batch) { $0.receipt?.answer }
    parameters.add(strict)
    return parameters
  }

  /// Reads where the event in row `row` landed.
  public static func appended(_ rows: Rows, _ row: Int) -> Appended {
    Appended(
      position: Position(rows.integer(row, 1)), version: Version(rows.integer(row, 2)),
      recordedAt: rows.timestamp(row, 3))
  }

  private static func payload(of event: NewEvent) -> [UInt8] {
    var source: JSONObject = [:]
    source["address"] = event.source.address.map(JSON.string)
    source["agent"] = event.source.agent.map(JSON.string)
    source["session"] = event.source.session.map { .string($0.description) }
    return event.event.payload(source: .object(source)).bytes
  }

  /// A `text[]` literal: every element in quotes, which quote `"` and `\`.
  private static func arrayLiteral(_ elements: [String]) -> String {
    var literal = "{"
    for (index, element) in elements.enumerated() {
      if index > 0 { literal += "," }
      literal += "\""
      for character in element.unicodeScalars {
        if character == "\"" || character == "\\" { literal += "\\" }
        literal.unicodeScalars.append(character)
      }
      literal += "\""
    }
    return literal + "}"
  }
}
