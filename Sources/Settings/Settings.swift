public import Logging
public import Network

/// What the service and its commands can be told, read and checked.
public struct Settings: Equatable, Sendable {
  /// Where the service listens.
  public internal(set) var listen = ListenAddress(host: .loopback, port: 8080)
  /// A libpq URI; nil for the embedded PostgreSQL.
  public internal(set) var databaseURL: String?
  /// Where the embedded PostgreSQL and generated keys are kept.
  public internal(set) var dataDirectory = "./.jejak"
  /// The file with the master keys; nil for the one in the data directory of the embedded PostgreSQL.
  public internal(set) var masterKeyFile: String?
  /// The file of the key that signs checkpoints; nil for the one in the data directory, where the
  /// database is the embedded one.
  public internal(set) var signingKeyFile: String?
  /// The file that keeps the last checkpoint; nil for the one in the data directory, where the
  /// database is the embedded one, and for none elsewhere.
  public internal(set) var checkpointFile: String?
  /// The file of the list of erasures; nil for the usual place.
  public internal(set) var erasureFile: String?
  /// How many event loops run; nil for one per core.
  public internal(set) var loops: Int?
  /// The file with the JSON Schema of the custom attributes; nil for the built-in one.
  public internal(set) var profileSchema: String?
  /// The fewest code points of a new password.
  public internal(set) var passwordMinimumLength = 15
  /// How long a session lives without use.
  public internal(set) var sessionIdle = Duration.seconds(30 * 86_400)
  /// How long a session lives at most.
  public internal(set) var sessionMax = Duration.seconds(365 * 86_400)
  /// The proxies whose `X-Forwarded-For` counts.
  public internal(set) var trustedProxies: [CIDR] = []
  /// How log lines look.
  public internal(set) var logFormat = LogFormat.json
  /// The lowest level that is logged.
  public internal(set) var logLevel = LogLevel.info
  /// How long requests in flight may take after SIGTERM.
  public internal(set) var shutdownGrace = Duration.seconds(30)
  /// Whether `serve` brings the schema up to date first.
  public internal(set) var migrate = true

  init() {}
}
