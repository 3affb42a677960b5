public import Postgres
import Schema
import Sodium

/// Brings a database's schema to the form that this binary works with, forward only.
public struct Migrator: ~Copyable {
  private let session: BlockingConnection

  /// Works on the schema that the search path of `target` names first.
  public init(target: String) throws(BlockingConnection.Failure) {
    session = try BlockingConnection(target: target, applicationName: "jejak migrate")
  }

  /// What has not been applied yet, in order: names of migrations and functions.
  ///
  /// Needs no right but to read the table of what was applied.
  public func pending() throws -> [String] {
    let applied = try applied()
    return try Self.known(against: applied).filter { applied[$0.name] != $0.digest }.map(\.name)
  }

  /// Applies what is pending, in one transaction, while no other migrator runs; what was applied.
  @discardableResult
  public func migrate() throws -> [String] {
    try session.transaction { () throws -> [String] in
      // Held to the end of the transaction; the key is this schema's own.
      try session.query("select pg_advisory_xact_lock(hashtext('jejak ' || current_schema()))")
      try session.script(
        """
        create table if not exists migrations (
          name text not null,
          digest text not null,
          applied_at timestamptz not null default now(),
          constraint migrations_pkey primary key (name)
        )
        """
      )
      let pending = try pending()
      for file in Schema.migrations + Schema.functions where pending.contains(file.name) {
        try session.script(file.sql)
        var parameters = Parameters()
        parameters.add(file.name)
        parameters.add(Self.digest(of: file))
        try session.query(
          """
          insert into migrations (name, digest) values ($1::text, $2::text)
          on conflict (name) do update set digest = excluded.digest, applied_at = now()
          """,
          parameters
        )
      }
      // The service reads it to see that nothing is pending.
      try session.script("grant select on migrations to jejak_service")
      return pending
    }
  }

  private func applied() throws -> [String: String] {
    let exists = try session.query("select to_regclass('migrations') is not null")
    guard exists.bool(0, 0) else { return [:] }
    let rows = try session.query("select name, digest from migrations")
    return Dictionary(
      (0..<rows.count).map { (rows.string($0, 0) ?? "", rows.string($0, 1) ?? "") },
      uniquingKeysWith: { _, last in last }
    )
  }

  /// The files with their digests; throws where the database knows what this binary does not.
  private static func known(
    against applied: [String: String]
  ) throws -> [(name: String, digest: String)] {
    let files = (Schema.migrations + Schema.functions).map { ($0.name, digest(of: $0)) }
    let names = Set(files.map(\.0))
    if let unknown = applied.keys.filter({ !names.contains($0) }).sorted().first {
      throw MigrationError.databaseIsNewer(unknown)
    }
    for file in Schema.migrations {
      if let digest = applied[file.name], digest != Self.digest(of: file) {
        throw MigrationError.migrationChanged(file.name)
      }
    }
    return files
  }

  /// SHA-256 in Base64: tells an edited file from the applied one.
  private static func digest(of file: Schema.File) -> String {
    Base64URL.encode(SHA256.digest(of: file.sql.utf8))
  }
}

/// Why a schema can't be brought to this binary's form.
public enum MigrationError: Error, CustomStringConvertible {
  /// The database has something applied that this binary doesn't know: use a newer binary.
  case databaseIsNewer(String)
  /// A migration that was applied has been edited since: migrations are forward only.
  case migrationChanged(String)

  /// For the operator.
  public var description: String {
    switch self {
    case .databaseIsNewer(let name):
      "the database holds '\(name)', which this version of jejak doesn't know"
    case .migrationChanged(let name):
      "migration '\(name)' was applied in another form than this version of jejak holds"
    }
  }
}
