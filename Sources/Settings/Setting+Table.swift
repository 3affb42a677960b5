import Logging
import Network

extension Setting {
  /// All settings, in the order of the help.
  static let table: [Setting] = [
    Setting(
      "JEJAK_LISTEN",
      "listen",
      "ADDRESS:PORT",
      .service,
      standard: "127.0.0.1:8080",
      expected: "an address and a port, such as 127.0.0.1:8080 or [::1]:8080",
      help: "Where to listen; an IPv6 address in brackets, port 0 for a free one."
    ) { text, settings in
      assign(ListenAddress(text), to: \.listen, of: &settings)
    },
    Setting(
      "JEJAK_DATABASE_URL",
      "database-url",
      "URL",
      .database,
      expected: "a libpq URI, postgresql://…",
      isSecret: true,
      help: "The database as a libpq URI, several hosts allowed. Without it a private "
        + "PostgreSQL runs in the data directory. A password is better kept in the environment "
        + "or a file, as others can see the arguments of a process."
    ) { text, settings in
      let isURI = text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
      return assign(isURI ? text : nil, to: \.databaseURL, of: &settings)
    },
    Setting(
      "JEJAK_DATA_DIR",
      "data-dir",
      "DIRECTORY",
      .database,
      standard: "./.jejak",
      expected: "a directory",
      help: "Where the private PostgreSQL keeps its data."
    ) { text, settings in
      assign(text.isEmpty ? nil : text, to: \.dataDirectory, of: &settings)
    },
    Setting(
      "JEJAK_MASTER_KEY_FILE",
      "master-key-file",
      "FILE",
      .database,
      expected: "a file",
      help: "The master keys, which wrap the users' keys; see jejak key --help. Unless given, with "
        + "the private PostgreSQL alone: master-keys in the data directory, made where it is missing."
    ) { text, settings in
      assign(text.isEmpty ? nil : text, to: \.masterKeyFile, of: &settings)
    },
    Setting(
      "JEJAK_SIGNING_KEY_FILE",
      "signing-key-file",
      "FILE",
      .database,
      expected: "a file",
      help: "The key that signs checkpoints of the log. With the private PostgreSQL one is made "
        + "in the data directory; elsewhere it has to be given."
    ) { text, settings in
      assign(text.isEmpty ? nil : text, to: \.signingKeyFile, of: &settings)
    },
    Setting(
      "JEJAK_CHECKPOINT_FILE",
      "checkpoint-file",
      "FILE",
      .database,
      expected: "a file",
      help: "Where the last checkpoint is kept outside the database, which shows when that was "
        + "put back to an earlier state. With the private PostgreSQL a file in the data "
        + "directory; elsewhere none unless given."
    ) { text, settings in
      assign(text.isEmpty ? nil : text, to: \.checkpointFile, of: &settings)
    },
    Setting(
      "JEJAK_ERASURE_FILE",
      "erasure-file",
      "FILE",
      .database,
      expected: "a file",
      help: "The list of who has been erased, kept outside the database for the day on which a "
        + "backup is restored. Unless given: erasures.jsonl in the data directory, and none where "
        + "the database is elsewhere."
    ) { text, settings in
      assign(text.isEmpty ? nil : text, to: \.erasureFile, of: &settings)
    },
    Setting(
      "JEJAK_LOOPS",
      "loops",
      "N",
      .service,
      expected: "a number from 1 to 256",
      help: "How many event loops to run; one per core unless given."
    ) { text, settings in
      assign(integer(text, in: 1...256), to: \.loops, of: &settings)
    },
    Setting(
      "JEJAK_PROFILE_SCHEMA",
      "profile-schema",
      "FILE",
      .service,
      expected: "a file",
      help: "The JSON Schema of the custom attributes; unless given: dateOfBirth, height, "
        + "weight, isMarried."
    ) { text, settings in
      assign(text.isEmpty ? nil : text, to: \.profileSchema, of: &settings)
    },
    Setting(
      "JEJAK_PASSWORD_MIN_LENGTH",
      "password-min-length",
      "N",
      .service,
      standard: "15",
      expected: "a number from 8 to 64",
      help: "The fewest characters of a new password, from 8 to 64."
    ) { text, settings in
      assign(integer(text, in: 8...64), to: \.passwordMinimumLength, of: &settings)
    },
    Setting(
      "JEJAK_SESSION_IDLE",
      "session-idle",
      "TIME",
      .service,
      standard: "30d",
      expected: positiveTime,
      help: "How long a session lives without use."
    ) { text, settings in
      assign(time(text), to: \.sessionIdle, of: &settings)
    },
    Setting(
      "JEJAK_SESSION_MAX",
      "session-max",
      "TIME",
      .service,
      standard: "365d",
      expected: positiveTime,
      help: "How long a session lives at most."
    ) { text, settings in
      assign(time(text), to: \.sessionMax, of: &settings)
    },
    Setting(
      "JEJAK_TRUSTED_PROXIES",
      "trusted-proxies",
      "CIDR,…",
      .service,
      expected: "networks such as 10.0.0.0/8,fd00::/8",
      help: "The proxies whose X-Forwarded-For counts; none unless given."
    ) { text, settings in
      assign(networks(text), to: \.trustedProxies, of: &settings)
    },
    Setting(
      "JEJAK_LOG",
      "log",
      "FORMAT",
      .database,
      standard: "json",
      expected: "json or text",
      help: "How log lines on standard error look: json or text."
    ) { text, settings in
      assign(LogFormat(rawValue: text), to: \.logFormat, of: &settings)
    },
    Setting(
      "JEJAK_LOG_LEVEL",
      "log-level",
      "LEVEL",
      .database,
      standard: "info",
      expected: "debug, info, notice, warning or error",
      help: "The lowest level to log: debug, info, notice, warning or error."
    ) { text, settings in
      assign(LogLevel(rawValue: text), to: \.logLevel, of: &settings)
    },
    Setting(
      "JEJAK_SHUTDOWN_GRACE",
      "shutdown-grace",
      "TIME",
      .service,
      standard: "30s",
      expected: positiveTime,
      help: "How long requests in flight may take after SIGTERM."
    ) { text, settings in
      assign(time(text), to: \.shutdownGrace, of: &settings)
    },
    Setting(
      "JEJAK_MIGRATE",
      "no-migrate",
      nil,
      .service,
      standard: "on",
      bareValue: "off",
      expected: "on or off",
      help: "Do not bring the schema up to date; refuse an old one."
    ) { text, settings in
      assign(["on": true, "off": false][text], to: \.migrate, of: &settings)
    },
  ]

  private static let positiveTime = "a time with its unit, such as 45s, 15m, 12h or 30d"

  private static func assign<Value>(
    _ value: Value?,
    to key: WritableKeyPath<Settings, Value>,
    of settings: inout Settings
  ) -> Bool {
    guard let value else { return false }
    settings[keyPath: key] = value
    return true
  }

  private static func assign<Value>(
    _ value: Value?,
    to key: WritableKeyPath<Settings, Value?>,
    of settings: inout Settings
  ) -> Bool {
    guard let value else { return false }
    settings[keyPath: key] = value
    return true
  }

  private static func integer(_ text: String, in range: ClosedRange<Int>) -> Int? {
    Int(text).flatMap { range.contains($0) ? $0 : nil }
  }

  private static func time(_ text: String) -> Duration? {
    Duration(text: text).flatMap { $0 > .zero ? $0 : nil }
  }

  private static func networks(_ text: String) -> [CIDR]? {
    var result: [CIDR] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let network = CIDR(part.trimmingSpaces) else { return nil }
      result.append(network)
    }
    return result
  }
}
