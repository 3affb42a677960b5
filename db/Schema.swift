/// The SQL of this folder, embedded in the binary.
public enum Schema {
  /// One file: its name without `.sql`, and its text.
  public struct File: Sendable {
    /// The file's name, such as `V0001_log` or `append_events`.
    public let name: String
    /// The statements.
    public let sql: String

    init(_ name: String, _ bytes: [UInt8]) {
      self.name = name
      sql = String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The migrations, in the order they are applied; each once, forward only.
  public static let migrations = [
    File("V0001_log", PackageResources.V0001_log_sql),
    File("V0002_accounts", PackageResources.V0002_accounts_sql),
    File("V0003_service_role", PackageResources.V0003_service_role_sql),
    File("V0004_projections", PackageResources.V0004_projections_sql),
    File("V0005_api_keys", PackageResources.V0005_api_keys_sql),
    File("V0006_rebuilds", PackageResources.V0006_rebuilds_sql),
    File("V0007_sealing", PackageResources.V0007_sealing_sql),
    File("V0008_tree", PackageResources.V0008_tree_sql),
    File("V0009_erasures", PackageResources.V0009_erasures_sql),
    File("V0010_narrow_grants", PackageResources.V0010_narrow_grants_sql),
    File("V0011_bounds", PackageResources.V0011_bounds_sql),
    File("V0012_more_bounds", PackageResources.V0012_more_bounds_sql),
  ]

  /// The functions; each is made anew when its text has changed.
  public static let functions = [
    File("append_events", PackageResources.append_events_sql),
    File("add_user_key", PackageResources.add_user_key_sql),
    File("use_master_key", PackageResources.use_master_key_sql),
    File("start_session", PackageResources.start_session_sql),
    File("end_sessions", PackageResources.end_sessions_sql),
    File("change_password", PackageResources.change_password_sql),
    File("position_at", PackageResources.position_at_sql),
    File("projection_table", PackageResources.projection_table_sql),
    File("projection_relation", PackageResources.projection_relation_sql),
    File("rename_projection_table", PackageResources.rename_projection_table_sql),
    File("prepare_rebuild", PackageResources.prepare_rebuild_sql),
    File("index_rebuild", PackageResources.index_rebuild_sql),
    File("exchange_projection", PackageResources.exchange_projection_sql),
    File("drop_projection_table", PackageResources.drop_projection_table_sql),
    File("erase_user", PackageResources.erase_user_sql),
    File("forget_erased", PackageResources.forget_erased_sql),
  ]
}
