import Postgres
import Schema

/// Sees that tables and functions are what the migrations have made: else a table may hide rows from
/// whoever verifies, or show them to them alone, and a function do another thing.
enum StoredSchema {
  /// The tables, but for those of a rebuild.
  static let tables = [
    "api_keys", "audit_entries", "checkpoints", "command_receipts", "credentials",
    "current_users", "directory", "email_claims", "erasures", "events", "log_head",
    "log_origins", "migrations", "notary", "projection_runner", "projections",
    "rebuild_ranges", "rebuilds", "sealing", "sessions", "statistics", "tree_edge",
    "tree_tiles", "user_keys",
  ]

  private static let namespace =
    "(select oid from pg_namespace where nspname = current_schema())"

  /// Notes what is otherwise.
  static func check(
    _ connection: borrowing BlockingConnection,
    _ findings: Findings
  ) throws {
    var parameters = Parameters()
    parameters.add(array: tables) { $0 }
    let rows = try connection.query(deviations, parameters)
    for row in 0..<rows.count {
      findings.note(
        .schema(rows.string(row, 0) ?? ""),
        .schemaDiffers(rows.string(row, 1) ?? "")
      )
    }
    for file in Schema.functions { try check(file.name, file.sql, connection, findings) }
  }

  private static let deviations = """
    with ours as (
      select t.name, c.oid, c.relkind, c.relrowsecurity or c.relforcerowsecurity as secured
        from unnest($1::text[]) t (name)
        left join pg_class c on c.relname = t.name and c.relnamespace = \(namespace))
    select name, 'it is not there' from ours where ours.oid is null
    union all
    select name, 'it is no plain table' from ours where relkind <> 'r'
    union all
    select name, 'it has row level security' from ours
     where secured or exists (select from pg_policy where polrelid = ours.oid)
    union all
    select name, 'it has the rule ' || rulename from ours
      join pg_rewrite r on r.ev_class = ours.oid where relkind = 'r'
    union all
    select name, 'it inherits, or is inherited from' from ours
     where exists (select from pg_inherits where ours.oid in (inhrelid, inhparent))
    union all
    select name, 'it has the trigger ' || tgname from ours
      join pg_trigger t on t.tgrelid = ours.oid
     where not tgisinternal and (name, tgname) <> ('log_head', 'log_head_is_never_updated')
    union all
    select name, 'a trigger of it is switched off or changed: ' || tgname from ours
      join pg_trigger t on t.tgrelid = ours.oid where tgenabled <> 'O'
    union all
    select name, 'it lacks the trigger that keeps it from being updated' from ours
     where name = 'log_head' and not exists (
       select from pg_trigger where tgrelid = ours.oid and tgname = 'log_head_is_never_updated')
    union all
    select name, 'it has no primary key' from ours
     where relkind = 'r' and not exists (
       select from pg_index where indrelid = ours.oid and indisprimary and indisvalid)
    order by 1, 2
    """

  /// A function has the body of its file, and runs as whom and with the search path that it says.
  private static func check(
    _ name: String,
    _ sql: String,
    _ connection: borrowing BlockingConnection,
    _ findings: Findings
  ) throws {
    var parameters = Parameters()
    parameters.add(name)
    let rows = try connection.query(
      """
      select prosrc, prosecdef,
             proowner = (select relowner from pg_class where oid = 'events'::regclass),
             coalesce(proconfig = array['search_path=' || quote_ident(current_schema())
                                        || ', pg_temp'], false)
        from pg_proc where proname = $1::text and pronamespace = \(namespace)
      """,
      parameters
    )
    guard rows.count == 1 else {
      let reason = rows.count == 0 ? "it is not there" : "there are several functions of its name"
      return findings.note(.schema(name), .schemaDiffers(reason))
    }
    let isDefiner = sql.contains("security definer")
    let reason: String? =
      if !sql.contains("$$\(rows.string(0, 0) ?? "")$$") {
        "its body is another one"
      } else if rows.bool(0, 1) != isDefiner || !rows.bool(0, 2) {
        "it runs as somebody else"
      } else if isDefiner, !rows.bool(0, 3) {
        "its search path is another one"
      } else {
        nil
      }
    if let reason { findings.note(.schema(name), .schemaDiffers(reason)) }
  }
}
