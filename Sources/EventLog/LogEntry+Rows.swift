public import Postgres
import Profiles
import Sodium

extension LogEntry {
  /// The columns that `init(_:_:from:)` reads, in its order, of a relation called `events`.
  public static let columns = """
    position, recorded_at, user_id, event_id, stream, version, schema, actor_kind, actor_id, \
    type, request_id, trace_id, changed, payload_sha256
    """
  /// How many columns these are.
  public static let columnCount = 14

  /// The entry of the event in row `row`, whose `columns` begin at column `first`.
  ///
  /// Nil where a column has a value that no event can have: somebody has put it there who may
  /// change the table itself.
  public init?(_ rows: Rows, _ row: Int, from first: Int = 0) {
    guard let stream = UInt8(exactly: rows.integer(row, first + 4, as: Int16.self)),
      let actorKind = UInt8(exactly: rows.integer(row, first + 7, as: Int16.self)),
      let details = Self.details(rows, row, from: first + 9),
      let payload = SHA256.Digest(rows.bytes(row, first + 13))
    else { return nil }
    let actor: Identifier<Actor>? =
      rows.isNull(row, first + 8) ? nil : rows.identifier(row, first + 8)
    // The entry has zeros for none, so they must not stand for somebody as well.
    guard actor != Identifier(high: 0, low: 0) else { return nil }
    self.init(
      position: Position(rows.integer(row, first)),
      recordedAt: rows.timestamp(row, first + 1),
      user: rows.identifier(row, first + 2),
      event: rows.identifier(row, first + 3),
      stream: stream,
      version: Version(rows.integer(row, first + 5)),
      schema: rows.integer(row, first + 6),
      actorKind: actorKind,
      actorID: actor,
      details: details,
      payload: payload
    )
  }

  /// The digest of the details in a row, without making texts; nil where `changed` is no plain array.
  private static func details(_ rows: Rows, _ row: Int, from first: Int) -> SHA256.Digest? {
    var context = SHA256.Context()
    for column in first..<first + 3 {
      if rows.isNull(row, column) {
        context.update(bigEndian: UInt32.max)
      } else {
        let bytes = rows.bytes(row, column)
        context.update(bigEndian: UInt32(truncatingIfNeeded: bytes.count))
        context.update(bytes)
      }
    }
    // The form of array_send: dimensions, a flag for nulls, the element's type; for each dimension
    // its length and lower bound; then the elements, each with its length before it, which is
    // the form that is wanted.
    let array = rows.bytes(row, first + 3)
    func field(_ number: Int) -> Int32 {
      Int32(bigEndian: array.loadUnaligned(fromByteOffset: 4 * number, as: Int32.self))
    }
    let (plainHeader, header) = (12, 20)
    guard array.count >= plainHeader, field(1) == 0 else { return nil }
    if field(0) == 0 {
      context.update(bigEndian: UInt32(0))
      return context.finish()
    }
    guard field(0) == 1, array.count >= header, field(4) == 1 else { return nil }
    context.update(bigEndian: field(3))
    context.update(UnsafeRawBufferPointer(rebasing: array[header...]))
    return context.finish()
  }
}

extension LogDetails {
  /// Those of the event in row `row` of `LogEntry.columns`.
  public init(_ rows: Rows, _ row: Int) {
    self.init(
      type: rows.string(row, 9) ?? "",
      requestID: rows.string(row, 10),
      traceID: rows.string(row, 11),
      changed: rows.strings(row, 12)
    )
  }
}
