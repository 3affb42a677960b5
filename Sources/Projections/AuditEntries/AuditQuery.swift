public import EventLog
public import Postgres
public import Profiles

/// Reads audit entries across users, by position, with the payloads of their events.
public struct AuditQuery: Sendable {
  /// Whose events; nil: anybody's.
  public var user: UserID?
  /// Which stream; nil: both.
  public var stream: Event.Stream?
  /// Which of them.
  public var filter: HistoryFilter
  /// In which order.
  public var order: History.Order

  /// The entries that `filter` lets through.
  public init(
    user: UserID? = nil,
    stream: Event.Stream? = nil,
    filter: HistoryFilter = HistoryFilter(),
    order: History.Order = .newestFirst
  ) {
    self.user = user
    self.stream = stream
    self.filter = filter
    self.order = order
  }

  /// Tells lists of other users, streams, filters and orders from this one.
  public var fingerprint: String {
    filter.fingerprint(
      "audit \(user?.description ?? "-") \(stream?.name ?? "-") \(order.rawValue)"
    )
  }

  /// Both are found by one index, `audit_entries_by_term`.
  private static let columns = HistoryFilter.Columns(
    anyType: { "fields || type && \($0)" },
    anyField: { "fields || type && \($0)" }
  )

  /// The statement, prepared, that `range` needs.
  public static let rangeStatement = Statement(
    "audit_range",
    """
    select case when $1::timestamptz is null then 1 else position_at($1::timestamptz) end,
           case when $2::timestamptz is null then null else position_at($2::timestamptz) - 1 end,
           coalesce((select position from audit_entries order by position desc limit 1), 0)
    """
  )

  /// The values of `rangeStatement`.
  public var rangeParameters: Parameters {
    var parameters = Parameters()
    parameters.add(filter.since)
    parameters.add(filter.until)
    return parameters
  }

  /// The positions that the filter's times stand for.
  ///
  /// They are those of the events that are there now. A later event comes behind all of them: time
  /// never falls along the log.
  public struct Range: Sendable {
    /// The first.
    public let first: Int64
    /// The last one, at most `head`.
    public let last: Int64
    /// The last that `audit_entries` has.
    public let head: Int64

    /// The row that `rangeStatement` answers.
    public init(_ rows: Rows) {
      first = rows.integer(0, 0)
      head = rows.integer(0, 2)
      last = rows.isNull(0, 1) ? head : min(head, rows.integer(0, 1))
    }
  }

  /// The statement and its values for at most `limit` entries of `range` after `cursor`.
  ///
  /// It is not prepared: the plan depends on the values, some of which are much rarer than others.
  public func page(in range: Range, after cursor: Position?, limit: Int) -> (Statement, Parameters)
  {
    var parameters = Parameters()
    let isNewestFirst = order == .newestFirst
    parameters.add(isNewestFirst ? range.first : max(range.first, (cursor ?? .start).next.rawValue))
    parameters.add(
      isNewestFirst ? min(range.last, max(0, cursor?.rawValue ?? .max) - 1) : range.last
    )
    parameters.add(Int64(limit))
    var conditions = ["position between $1::bigint and $2::bigint"]
    if let user {
      parameters.add(user)
      conditions.append("user_id = $\(parameters.count)::uuid")
    }
    if let stream {
      parameters.add(stream.rawValue)
      conditions.append("stream = $\(parameters.count)::smallint")
    }
    conditions += filter.conditions(Self.columns, &parameters)
    let statement = Statement(
      unprepared: """
        select \(RecordedEvent.columns), name
          from (select position from audit_entries where \(conditions.joined(separator: " and "))
                 order by position \(order.rawValue) limit $3::bigint) as found
          join events using (position)
          left join api_keys on key_id = actor_id and actor_kind = 2
         order by position \(order.rawValue)
        """
    )
    return (statement, parameters)
  }
}
