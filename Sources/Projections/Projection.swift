public import EventLog
public import Postgres

/// A read model: what the events of the log add up to, row by row.
///
/// `apply` is the whole definition. It is used in every mode: by appends (inline), by the runner
/// that follows the log, by rebuilds and by `verify`. What else is here says how rows are stored.
public protocol Projection: SendableMetatype {
  /// What a row is found by.
  associatedtype Key: Hashable & Comparable & Sendable
  /// What the events of one key add up to.
  associatedtype Row: Sendable

  /// The projection's name, which is its table's too.
  static var name: String { get }
  /// The number of the definition: raised with every change of what `apply` answers.
  static var revision: Int32 { get }
  /// How its rows come about.
  static var mode: ProjectionMode { get }
  /// How a rebuild may be shared out.
  static var partitioning: Partitioning { get }
  /// Whether `apply` looks into payloads; elsewhere the events may be read without them.
  static var readsPayload: Bool { get }
  /// An expression over all rows of `table` that gives how many events it accounts for, as the log
  /// up to `position` does; nil where rows don't tell.
  static func countedEvents(in table: String, upTo position: Int64) -> String?

  /// The key of the row that an event belongs to, as its header tells; nil where it has no effect.
  static func key(of event: RecordedEvent) -> Key?
  /// The row after `event`, on top of the row before it; nil for none.
  static func apply(_ event: RecordedEvent, to row: Row?) throws(ProjectionError) -> Row?

  /// The columns of the table, in the order of `copyLine`.
  static var columns: String { get }
  /// Appends a row as a line of `copy … from stdin` in text format.
  static func copyLine(of row: Row, into line: inout [UInt8])
  /// The rows of `keys` in `table`; a key without a row is left out.
  static func load(
    _ keys: [Key],
    from table: String,
    _ connection: borrowing BlockingConnection
  ) throws -> [Key: Row]
  /// Writes what `rows` says of each key: the row, or that there is none.
  static func write(
    _ rows: [Key: Row?],
    to table: String,
    _ connection: borrowing BlockingConnection
  ) throws
}

extension Projection {
  /// Most do.
  public static var readsPayload: Bool { true }
  /// Most don't tell.
  public static func countedEvents(in table: String, upTo position: Int64) -> String? { nil }
  /// The columns of `events` that `apply` needs.
  public static var eventColumns: String {
    readsPayload ? RecordedEvent.columns : RecordedEvent.headerColumns
  }
}

/// How a projection's rows come about.
public enum ProjectionMode: String, Sendable {
  /// In the transaction of each event.
  case inline
  /// By the runner, which follows the log.
  case following
}

/// How a rebuild may be shared out among workers.
public enum Partitioning: Sendable {
  /// A row depends on the events of one user alone.
  case byUser
  /// A row depends on one event alone, and its key is the event's position.
  case byEvent
  /// A row depends on events of any user; they are folded in the order of the log.
  case inSequence
}
