public import Clocks
import JSON
import Keys
public import Postgres
public import Profiles

/// An event as the log holds it.
public struct RecordedEvent: Sendable {
  /// Its place in the log.
  public let position: Position
  /// When it was committed, as the log tells time.
  public let recordedAt: Timestamp
  /// Whose event it is.
  public let user: UserID
  /// The version of its stream that it made.
  public let version: Version
  /// The stream, as the database numbers it.
  public let stream: Int16
  /// The form of the payload.
  public let schema: Int16
  /// The name of what happened.
  public let type: String
  /// Who caused it.
  public let actor: Actor
  /// The request that caused it.
  public let requestID: String?
  /// The trace that request was part of.
  public let traceID: String?
  /// What happened, in full, as JSON text; empty where the `headerColumns` were read, and where it
  /// is gone or can't be opened.
  public internal(set) var payload: [UInt8] = []
  /// Why the payload can't be opened, without a person's data; nil where it can, or went with its
  /// user.
  public internal(set) var unreadable: String?
  /// Whether that is for want of a master key, which may come.
  public internal(set) var lacksMasterKey = false
  /// The names of the fields that changed, as the header has them.
  public let changed: [String]
  /// Whether the log still has the payload.
  public let payloadState: PayloadState
  /// Whether the payload is gone, since the user has been erased.
  public var isErased: Bool { payloadState == .erased }

  /// What has become of a payload; the numbers are those that the columns give.
  public enum PayloadState: Int32, Sendable {
    /// It is there.
    case stored
    /// It is gone, since the user has been erased.
    case erased
    /// It is gone, and nobody erased the user: the log was damaged.
    case lost
  }

  /// The columns that `EventReader` reads, in its order, of a relation called `events`.
  public static let columns = columns(
    payload: "payload",
    key: WrappedKey.column(of: "events.user_id"),
    user: "events.user_id"
  )

  /// The same of events of one user alone, whose id `user` names: their key is read once.
  static func columns(ofUser user: String) -> String {
    columns(payload: "payload", key: WrappedKey.column(of: user), user: user)
  }

  /// The same of `eventsOfMany`.
  public static let columnsOfMany = columns(
    payload: "payload",
    key: WrappedKey.joinedColumn,
    user: "events.user_id"
  )

  /// The relation for `columnsOfMany`: the events with the keys of their users, for whoever reads
  /// those of many users at once.
  public static let eventsOfMany = "events \(WrappedKey.join)"

  /// The same without the payload, for those who don't need it.
  public static let headerColumns = columns(
    payload: "null::bytea as payload",
    key: "null::bytea",
    user: "events.user_id"
  )

  /// Nothing is looked for in `erasures` where the payload is there.
  private static func columns(payload: String, key: String, user: String) -> String {
    """
    position, recorded_at, user_id, version, stream, schema, type, actor_kind, actor_id, \
    request_id, trace_id, \(payload), changed, \
    case when events.payload is not null then 0 \
    when exists (select from erasures where erasures.user_id = \(user)) then 1 else 2 end, \
    \(key)
    """
  }

  /// Which of them has the payload, as it is stored.
  public static let payloadColumn = 11
  static let keyColumn = 14
  /// How many columns these are.
  public static let columnCount = 15

  /// The event in row `row`, but for its payload.
  public init(header rows: Rows, _ row: Int) {
    position = Position(rows.integer(row, 0))
    recordedAt = rows.timestamp(row, 1)
    user = rows.identifier(row, 2)
    version = Version(rows.integer(row, 3))
    stream = rows.integer(row, 4)
    schema = rows.integer(row, 5)
    type = rows.string(row, 6) ?? ""
    actor = Actor(
      kind: rows.integer(row, 7),
      id: rows.isNull(row, 8) ? nil : rows.identifier(row, 8)
    )
    requestID = rows.string(row, 9)
    traceID = rows.string(row, 10)
    changed = rows.strings(row, 12)
    payloadState = PayloadState(rawValue: rows.integer(row, 13)) ?? .lost
    if payloadState == .lost {
      unreadable = "the payload is gone, and the user has not been erased"
    }
  }

  /// What happened, as the domain knows it.
  public func event() throws(EventReadingError) -> Event {
    // What a newer release wrote is told as that, whether it can be opened or not.
    guard schema == 1, let kind = Event.Kind(rawValue: type) else {
      throw .coding(.unknown(type: type, schema: schema))
    }
    guard !isErased else {
      guard kind == .userErased else { throw .coding(.erased(type: type)) }
      return .userErased
    }
    if let unreadable { throw .sealed(reason: unreadable) }
    do throws(EventCodingError) {
      return try Event(type: type, schema: schema, payload: parsed())
    } catch {
      throw .coding(error)
    }
  }

  private func parsed() throws(EventCodingError) -> JSON {
    do {
      return try JSON.parse(payload)
    } catch {
      throw .invalid(type: type, member: "")
    }
  }
}

/// Why an event of the log can't be read.
public enum EventReadingError: Error, Hashable, CustomStringConvertible {
  /// The payload can't be opened, for this reason.
  case sealed(reason: String)
  /// The payload is none that this release knows.
  case coding(EventCodingError)

  /// For the operator, without a person's data.
  public var description: String {
    switch self {
    case .sealed(let reason): reason
    case .coding(let error): error.description
    }
  }
}
