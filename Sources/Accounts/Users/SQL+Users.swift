import EventLog
import Postgres
import Profiles

extension SQL {
  /// Every statement that `listUsers` gives.
  static let userLists = [History.Order.newestFirst, .oldestFirst].flatMap { order in
    [false, true].flatMap { byStatus in
      [false, true].map { listUsers(order, byStatus: byStatus, byWords: $0) }
    }
  }

  static let userByEmail = Statement(
    "user_by_email",
    """
    select \(CurrentUser.columns)
      from email_claims e join current_users u on u.user_id = e.user_id
     where e.email = $1::text
    """
  )

  /// Rows of the directory that are looked through, in the order of the list, before the index of
  /// words is asked.
  private static let window = 5_000

  /// A page of users: $1 the position that it comes after, $2 how many, $3 the status, $4 the words
  /// as a `tsquery`.
  ///
  /// The index of words can't tell in which order its rows are, so it reads all of them. Of common
  /// words that is nearly everyone; but then the first rows of the list have enough of them. So
  /// these are looked through first, and the index is asked for what is rarer. `+ 0` keeps the
  /// planner, which can't know how common the words are, from walking the whole list instead.
  static func listUsers(
    _ order: History.Order,
    byStatus: Bool,
    byWords: Bool
  ) -> Statement {
    let (comparison, direction) = order == .newestFirst ? ("<", "desc") : (">", "asc")
    let isOfStatus = byStatus ? "and status = $3::smallint" : "and $3::smallint is null"
    // Compared as one, status and position are in the order of their own index alone; the planner
    // would else walk everyone in search of a status.
    let isInOrder =
      byStatus
      ? """
      (status, registered_position) \(comparison) ($3::smallint, $1::bigint)
             and status \(order == .newestFirst ? ">=" : "<=") $3::smallint
       order by status \(direction), registered_position \(direction)
      """
      : """
      registered_position \(comparison) $1::bigint and $3::smallint is null
       order by registered_position \(direction)
      """
    let found =
      byWords
      ? """
      near as materialized (
        select user_id, registered_position
          from (select user_id, registered_position, words from directory
                 where \(isInOrder) limit \(window)) d
         where words @@ $4::text::tsquery
         order by registered_position \(direction) limit $2::bigint),
      edge as materialized (
        select registered_position as last from directory
         where \(isInOrder) offset \(window) - 1 limit 1),
      far as materialized (
        select user_id, registered_position from directory
         where words @@ $4::text::tsquery
           and registered_position + 0 \(comparison) (select last from edge) \(isOfStatus)
           and (select count(*) from near) < $2::bigint and exists (select from edge)
         order by registered_position + 0 \(direction) limit $2::bigint),
      found as (
        select * from (
          select user_id, registered_position from near
          union all select user_id, registered_position from far) b
         order by registered_position \(direction) limit $2::bigint)
      """
      : """
      found as (
        select user_id, registered_position from directory
         where $4::text is null and \(isInOrder) limit $2::bigint)
      """
    let name =
      "list_users_\(order.rawValue)" + (byStatus ? "_status" : "") + (byWords ? "_words" : "")
    return Statement(
      name,
      """
      with \(found)
      select f.registered_position, \(CurrentUser.columns)
        from found f
       cross join lateral (select * from current_users c where c.user_id = f.user_id limit 1) u
       order by f.registered_position \(direction)
      """
    )
  }
}
