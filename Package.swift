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

    .target(name: "Logging", dependencies: ["CLinux"], swiftSettings: settings),
    .target(name: "Settings", dependencies: ["CLinux", "Logging"], swiftSettings: settings),
    .target(
      name: "EmbeddedPostgres",
      dependencies: ["CLinux", "CPostgres"],
      swiftSettings: settings
    ),

    .testTarget(name: "LoggingTests", dependencies: ["Logging"], swiftSettings: settings),
    .testTarget(name: "SettingsTests", dependencies: ["Settings"], swiftSettings: settings),
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
  ],
  swiftLanguageModes: [.v6]
)
