public import Postgres
public import Profiles

/// Reads the events of one user, by version.
public enum History {
  /// The order of a page.
  public enum Order: String, Sendable {
    case newestFirst = "desc"
    case oldestFirst = "asc"
  }

  /// The statements to be prepared on connections that read histories.
  public static let statements = [newestFirst, oldestFirst]

  /// The statement and its values for at most `limit` events of a stream after `cursor`.
  public static func page(
    of user: UserID,
    stream: Event.Stream,
    order: Order,
    after cursor: Version?,
    limit: Int
  ) -> (Statement, Parameters) {
    var parameters = Parameters()
    parameters.add(user)
    parameters.add(stream.rawValue)
    parameters.add(cursor?.rawValue ?? (order == .newestFirst ? Int32.max : 0))
    parameters.add(Int64(limit))
    return (order == .newestFirst ? newestFirst : oldestFirst, parameters)
  }

  /// The statement and its values for at most `limit` events of a stream after `cursor` that
  /// `filter` lets through, up to the position `last`, each as an `AuditedEvent`.
  ///
  /// It is not prepared: each combination has a plan of its own.
  public static func page(
    of user: UserID,
    stream: Event.Stream,
    order: Order,
    filter: HistoryFilter,
    after cursor: Version?,
    upTo last: Position? = nil,
    limit: Int
  ) -> (Statement, Parameters) {
    var (_, parameters) = page(of: user, stream: stream, order: order, after: cursor, limit: limit)
    var conditions = [
      "user_id = $1::uuid", "stream = $2::smallint",
      "version \(order == .newestFirst ? "<" : ">") $3::integer",
    ]
    conditions += filter.conditions(.events, &parameters)
    if let since = filter.since {
      parameters.add(since)
      conditions.append("recorded_at >= $\(parameters.count)::timestamptz")
    }
    if let until = filter.until {
      parameters.add(until)
      conditions.append("recorded_at < $\(parameters.count)::timestamptz")
    }
    if let last {
      parameters.add(last.rawValue)
      conditions.append("position <= $\(parameters.count)::bigint")
    }
    let statement = Statement(
      unprepared: """
        select \(columns), name
          from events left join api_keys on key_id = actor_id and actor_kind = 2
         where \(conditions.joined(separator: " and "))
         order by version \(order.rawValue) limit $4::bigint
        """
    )
    return (statement, parameters)
  }

  private static let columns = RecordedEvent.columns(ofUser: "$1::uuid")

  private static let newestFirst = Statement(
    "history_newest_first",
    """
    select \(columns) from events
     where user_id = $1::uuid and stream = $2::smallint and version < $3::integer
     order by version desc limit $4::bigint
    """
  )

  private static let oldestFirst = Statement(
    "history_oldest_first",
    """
    select \(columns) from events
     where user_id = $1::uuid and stream = $2::smallint and version > $3::integer
     order by version limit $4::bigint
    """
  )

  /// The fields that changed in a user's profile after one version.
  public static let fieldsChangedSince = Statement(
    "fields_changed_since",
    """
    select distinct field from events, unnest(changed) as field
     where user_id = $1::uuid and stream = 1 and version > $2::integer order by field
    """
  )
}
