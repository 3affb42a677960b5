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

  private static let newestFirst = Statement(
    "history_newest_first",
    """
    select \(RecordedEvent.columns) from events
     where user_id = $1::uuid and stream = $2::smallint and version < $3::integer
     order by version desc limit $4::bigint
    """
  )

  private static let oldestFirst = Statement(
    "history_oldest_first",
    """
    select \(RecordedEvent.columns) from events
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
