extension CurrentUsers {
  /// Each event raises one of the two versions by one.
  public static var countedEvents: String? { "sum(version::bigint + access_version)" }
}

extension AuditEntries {
  /// One row for each event.
  public static var countedEvents: String? { "count(*)" }
}

extension Statistics {
  /// Every event belongs to a day.
  public static var countedEvents: String? { "sum(events)" }
}
