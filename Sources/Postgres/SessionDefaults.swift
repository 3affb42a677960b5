/// What a session holds to although somebody has given its role, or its database, other defaults: any
/// role may give itself such, which outlive whoever did it.
public enum SessionDefaults {
  /// To be run after connecting, before what the session wants of its own.
  public static let statements = [
    "set default_transaction_read_only = off",
    "set default_transaction_isolation = 'read committed'",
    "set default_transaction_deferrable = off",
    "set row_security = on",
    "set idle_session_timeout = 0",
    // Of PostgreSQL 17.
    "select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'",
  ]

  /// Refuses a server that takes no writes, so that no connection to it counts as ready.
  ///
  /// With the defaults above, only a standby makes a transaction read-only by itself.
  public static let refusal = """
    do $$ begin
      if pg_is_in_recovery() then
        raise read_only_sql_transaction using message = 'the server is a standby, which takes no writes';
      end if;
    end $$
    """
}
