public import Keys
public import Postgres
public import Profiles

/// Reads the log page by page, in the order of positions.
///
/// Each page is a statement of its own: a reader of the whole log holds no transaction open and
/// no more than a page in memory. Positions are dense and in commit order, so the next page begins
/// where this one ends, whatever is appended meanwhile.
public enum LogPage {
  /// Events of a page at most.
  public static let limit = 1000
  /// Positions that are looked through for one page of a selection.
  public static let span = 20_000

  /// Which events are wanted.
  public struct Selection: Sendable {
    /// Their types; nil for all.
    public var types: [String]?
    /// Whose they are; nil for everybody's.
    public var user: UserID?

    /// All events, unless told otherwise.
    public init(types: [String]? = nil, user: UserID? = nil) {
      self.types = types
      self.user = user
    }
  }

  /// An event with its id.
  public typealias Item = (event: RecordedEvent, id: EventID)

  /// What one look at the log found.
  public struct Found: Sendable {
    /// The selected events.
    public let events: [Item]
    /// The position up to which they are all.
    public let end: Position
    /// Whether the log ended there.
    public let isLast: Bool
  }

  /// The statements to be prepared on connections that read the log.
  public static let statements = [headStatement, frontStatement, statement]

  /// The last position, 0 for an empty log.
  public static let headStatement = Statement(
    "log_head_position",
    "select coalesce(max(position), 0) from events"
  )

  /// The last position, and the first one after a position, null where there is none.
  private static let frontStatement = Statement(
    "log_front",
    """
    select coalesce(max(position), 0),
           (select position from events where position > $1::bigint order by position limit 1)
      from events
    """
  )

  /// The event's id follows the columns of `RecordedEvent`.
  private static let idColumn = RecordedEvent.columnCount

  private static let statement = Statement(
    "log_page",
    """
    select \(RecordedEvent.columns), event_id from events
     where position > $1::bigint and position <= $2::bigint
       and ($3::text[] is null or type = any($3::text[]))
       and ($4::uuid is null or user_id = $4::uuid)
     order by position limit $5::bigint
    """
  )

  /// The head and the page after `position`, as the steps of one transaction.
  ///
  /// The page sees all that the head does, so there is no other selected event up to `end`.
  public static func steps(
    after position: Position,
    selecting selection: Selection
  ) -> [(Statement, Parameters)] {
    var parameters = Parameters()
    parameters.add(position.rawValue)
    parameters.add(lastOfSpan(after: position).rawValue)
    if let types = selection.types {
      parameters.add(array: types) { $0 }
    } else {
      parameters.add(String?.none)
    }
    parameters.add(selection.user)
    parameters.add(Int64(limit))
    var start = Parameters()
    start.add(position.rawValue)
    return [(frontStatement, start), (statement, parameters)]
  }

  /// What the steps found.
  public static func read(
    _ results: [Rows],
    after position: Position,
    _ keyring: Keyring
  ) -> Found {
    let rows = results[1]
    let events: [Item] = EventReader.events(rows, keyring).enumerated().map { row, event in
      (event: event, id: rows.identifier(row, idColumn))
    }
    let head = Position(results[0].integer(0, 0))
    let last = events.last?.event.position ?? position
    // Where somebody has put an event far ahead, what lies before it is passed over in one step.
    let next = results[0].isNull(0, 1) ? position.rawValue : results[0].integer(0, 1)
    let passed = max(lastOfSpan(after: position), Position(max(1, next) - 1))
    let seen = events.count < limit ? min(head, passed) : last
    let end = max(last, seen)
    return Found(events: events, end: end, isLast: end >= head)
  }

  private static func lastOfSpan(after position: Position) -> Position {
    Position(min(position.rawValue, .max - Int64(span)) + Int64(span))
  }
}
