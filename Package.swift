// swift-tools-version: 6.2

import PackageDescription

/// One language for all targets: Swift 6 mode, explicit existentials and imports, no warnings.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "jejak",
  products: [
    .executable(name: "jejak", targets: ["Jejak"])
  ],
  targets: [
    // C, from the distribution: a module map and a shim each, nothing else.
    .systemLibrary(name: "CLinux"),
    .systemLibrary(
      name: "CPostgres",
      pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"])]
    ),
    .systemLibrary(
      name: "CSodium",
      pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"])]
    ),
    .systemLibrary(
      name: "CMicroHTTPD",
      pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev"])]
    ),
    .systemLibrary(
      name: "CJansson",
      pkgConfig: "jansson",
      providers: [.apt(["libjansson-dev"])]
    ),
    .systemLibrary(
      name: "CIDN2",
      pkgConfig: "libidn2",
      providers: [.apt(["libidn2-dev"])]
    ),
    .systemLibrary(name: "CUnistring", providers: [.apt(["libunistring-dev"])]),

    // The ground floor: threads, the database, HTTP. It knows nothing of profiles.
    .target(name: "Clocks", swiftSettings: settings),
    .target(name: "Network", dependencies: ["CLinux"], swiftSettings: settings),
    .target(name: "Files", dependencies: ["CLinux"], swiftSettings: settings),
    .target(name: "EventLoop", dependencies: ["CLinux", "Clocks"], swiftSettings: settings),
    .target(
      name: "Postgres",
      dependencies: ["CPostgres", "Clocks", "EventLoop"],
      swiftSettings: settings
    ),
    .target(
      name: "HTTP",
      dependencies: ["CMicroHTTPD", "Clocks", "EventLoop"],
      swiftSettings: settings
    ),
    .target(name: "CSV", swiftSettings: settings),
    .target(name: "JSON", dependencies: ["CJansson"], swiftSettings: settings),
    .target(name: "Sodium", dependencies: ["CSodium"], swiftSettings: settings),

    // The domain and the tree, pure.
    .target(name: "MerkleTree", dependencies: ["Sodium"], swiftSettings: settings),
    .target(
      name: "Profiles",
      dependencies: ["CIDN2", "CUnistring", "JSON"],
      swiftSettings: settings
    ),

    // The database's own side: SQL, embedded, and what applies it.
    .target(
      name: "Schema",
      path: "db",
      exclude: ["README.md"],
      resources: [.embedInCode("migrations"), .embedInCode("functions")],
      swiftSettings: settings
    ),
    .target(
      name: "Migrations",
      dependencies: ["Postgres", "Schema", "Sodium"],
      swiftSettings: settings
    ),
    .target(
      name: "Keys",
      dependencies: ["Files", "Profiles", "Sodium"],
      swiftSettings: settings
    ),
    .target(
      name: "EventLog",
      dependencies: [
        "CSV", "Clocks", "EventLoop", "JSON", "Keys", "MerkleTree", "Postgres", "Profiles",
        "Sodium",
      ],
      swiftSettings: settings
    ),

    .target(
      name: "Notary",
      dependencies: [
        "CLinux", "Clocks", "EventLog", "EventLoop", "Files", "MerkleTree", "Postgres", "Profiles",
        "Sodium",
      ],
      swiftSettings: settings
    ),

    // The application.
    .target(
      name: "Accounts",
      dependencies: [
        "Clocks", "EventLog", "EventLoop", "Files", "JSON", "Keys", "MerkleTree", "Notary",
        "Postgres", "Profiles", "Projections", "Sodium",
      ],
      swiftSettings: settings
    ),
    .target(
      name: "Projections",
      dependencies: ["Clocks", "EventLog", "EventLoop", "JSON", "Keys", "Postgres", "Profiles"],
      swiftSettings: settings
    ),
    .target(
      name: "Verification",
      dependencies: [
        "Clocks", "EventLog", "EventLoop", "JSON", "Keys", "MerkleTree", "Postgres", "Profiles",
        "Projections", "Schema", "Sodium",
      ],
      swiftSettings: settings
    ),
    .target(
      name: "Gateway",
      dependencies: [
        "Accounts", "Clocks", "EventLog", "EventLoop", "HTTP", "JSON", "Keys", "MerkleTree",
        "Network", "Notary", "Postgres", "Profiles", "Projections", "Sodium",
      ],
      swiftSettings: settings
    ),

    // The host: settings, logs, a private PostgreSQL.
    .target(name: "Logging", dependencies: ["CLinux", "Clocks"], swiftSettings: settings),
    .target(
      name: "Settings",
      dependencies: ["CLinux", "Logging", "Network"],
      swiftSettings: settings
    ),
    .target(
      name: "EmbeddedPostgres",
      dependencies: ["CLinux", "CPostgres", "Files"],
      swiftSettings: settings
    ),

    // The program.
    .executableTarget(
      name: "Jejak",
      dependencies: [
        "Accounts", "Clocks", "EmbeddedPostgres", "EventLog", "EventLoop", "Files", "Gateway",
        "HTTP",
        "JSON", "Keys", "Logging", "MerkleTree", "Migrations", "Network", "Notary", "Postgres",
        "Profiles", "Projections", "Settings", "Sodium", "Verification",
      ],
      swiftSettings: settings
    ),

    .testTarget(name: "NetworkTests", dependencies: ["Network"], swiftSettings: settings),
    .testTarget(name: "FilesTests", dependencies: ["Files"], swiftSettings: settings),
    .testTarget(name: "CSVTests", dependencies: ["CSV"], swiftSettings: settings),
    .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "ProfilesTests",
      dependencies: ["JSON", "Profiles", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(name: "LoggingTests", dependencies: ["Logging"], swiftSettings: settings),
    .testTarget(
      name: "SettingsTests",
      dependencies: ["Network", "Settings"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "EmbeddedPostgresTests",
      dependencies: ["EmbeddedPostgres", "LeaseHolder"],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "LeaseHolder",
      dependencies: ["EmbeddedPostgres"],
      path: "Tests/LeaseHolder",
      swiftSettings: settings
    ),
    // The ground floor's tests, and what they share: a server, a database, a loop, a client.
    .target(
      name: "TestSupport",
      dependencies: [
        "Clocks", "EmbeddedPostgres", "EventLog", "EventLoop", "HTTP", "JSON", "Keys", "Migrations",
        "Postgres", "Profiles", "Sodium",
      ],
      path: "Tests/Support",
      exclude: ["support"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "EventLoopTests",
      dependencies: ["CLinux", "Clocks", "EventLoop", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "PostgresTests",
      dependencies: ["Clocks", "EventLoop", "Postgres", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HTTPTests",
      dependencies: ["EventLoop", "HTTP", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "KeysTests",
      dependencies: ["Clocks", "Files", "Keys", "Profiles", "Sodium", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(name: "SodiumTests", dependencies: ["Sodium"], swiftSettings: settings),
    .testTarget(
      name: "MerkleTreeTests",
      dependencies: ["MerkleTree", "Sodium"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "MigrationsTests",
      dependencies: ["Migrations", "Postgres", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "EventLogTests",
      dependencies: [
        "Clocks", "EventLog", "EventLoop", "JSON", "Keys", "MerkleTree", "Postgres", "Profiles",
        "Sodium", "TestSupport",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "AccountsTests",
      dependencies: [
        "Accounts", "Clocks", "EventLog", "EventLoop", "JSON", "Keys", "Postgres", "Profiles",
        "Projections", "Sodium", "TestSupport",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "GatewayTests",
      dependencies: [
        "Accounts", "Clocks", "EventLog", "Gateway", "HTTP", "JSON", "Keys", "Notary", "Postgres",
        "Profiles",
        "Sodium", "TestSupport",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "ProjectionsTests",
      dependencies: [
        "Clocks", "EventLog", "EventLoop", "JSON", "Keys", "Postgres", "Profiles", "Projections",
        "TestSupport",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "NotaryTests",
      dependencies: [
        "EventLog", "EventLoop", "Files", "MerkleTree", "Notary", "Postgres", "Sodium",
        "TestSupport",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VerificationTests",
      dependencies: [
        "EventLog", "MerkleTree", "Postgres", "Sodium", "TestSupport", "Verification",
      ],
      swiftSettings: settings
    ),
    .testTarget(name: "TidyTests", swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
