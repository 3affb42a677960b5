import Glibc

/// A private PostgreSQL in a data directory, run with the server binaries of the system and
/// shared by all processes that name the same directory.
public enum EmbeddedPostgres {
  /// Whether a server's data has been made in `dataDirectory`.
  public static func exists(in dataDirectory: String) -> Bool {
    access(dataDirectory + "/pgdata/PG_VERSION", F_OK) == 0
  }

  /// Joins the server of `dataDirectory`, which is made and started where needed.
  ///
  /// Blocks until the server accepts connections: a first start takes a second or two, a
  /// start after a crash as long as recovery takes.
  ///
  /// - Parameters:
  ///   - dataDirectory: where data, socket and locks are kept; made with mode 0700.
  ///   - user: the unprivileged account for the server when root makes the data; by default
  ///     `postgres`, else `nobody`. Existing data decides for itself.
  /// - Returns: this process's share in the server.
  /// - Throws: what keeps the server from running, in one line for the operator.
  public static func join(
    dataDirectory: String,
    user: String? = nil
  ) throws(EmbeddedPostgresError) -> Lease {
    let data = try DataDirectory(dataDirectory)
    return try Lease(server: try Server(data: data, userName: user))
  }
}
