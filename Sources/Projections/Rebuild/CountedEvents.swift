extension CurrentUsers {
  /// Each event raises one of the two versions by one; those of erased users have no row, unless it
  /// was made before they were erased.
  public static func countedEvents(in table: String, upTo position: Int64) -> String? {
    """
    coalesce(sum(version::bigint + access_version), 0)
      + (select count(*) from events e
          where e.position <= \(position) and e.user_id in (select user_id from erasures)
            and not exists (select from \(table) s where s.user_id = e.user_id))
    """
  }
}

extension AuditEntries {
  /// One row for each event.
  public static func countedEvents(in table: String, upTo position: Int64) -> String? { "count(*)" }
}

extension Statistics {
  /// Every event belongs to a day.
  public static func countedEvents(in table: String, upTo position: Int64) -> String? {
    "sum(events)"
  }
}
