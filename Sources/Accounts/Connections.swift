public import EventLoop
import EventLog
import Notary
public import Postgres
import Projections

/// The connections of one event loop, each kept for one kind of work, so that none waits behind
/// another kind.
public final class Connections: Sendable {
  let fetch: Connection
  /// For exports, audits and other long lists, which may take their time.
  let bulk: Connection
  private let others: [Connection]

  /// Connections for rare transactions and lists.
  private static let otherCount = 2
  /// Connections of one loop.
  public static let count = 2 + otherCount

  /// What every connection of the service holds to, whatever the server's defaults are.
  private static let setup =
    ["set role jejak_service"] + SessionDefaults.statements + [
      SessionDefaults.refusal,
      "set synchronous_commit = on",
      "set statement_timeout = '20s'",
      // Batches differ in length alone; a plan made once serves them all.
      "set plan_cache_mode = force_generic_plan",
      "set jit = off",
      "set timezone = 'UTC'",
    ]

  /// Makes the connections of `loop` from a libpq connection string; none is opened yet.
  public init(
    loop: EventLoop,
    target: String,
    readiness: Readiness = Readiness(),
    report: @escaping @Sendable (String) -> Void
  ) {
    func make(_ statements: [Statement], setup: [String] = []) -> Connection {
      var configuration = Self.configuration(target, statements)
      configuration.setup += setup
      return Connection(
        loop: loop,
        configuration: configuration,
        readiness: readiness,
        report: report
      )
    }
    fetch = make([Holder.statement, Holder.writerStatement])
    // Here the plan depends on the values, which are few statements' and not the same.
    bulk = make(
      LogPage.statements + [AuditQuery.rangeStatement, RebuildLookup.statement] + SQL.userLists,
      setup: ["set plan_cache_mode = force_custom_plan"]
    )
    others = (0..<Self.otherCount).map { _ in
      make(
        SQL.all + History.statements + TreeQuery.statements
          + [History.fieldsChangedSince, AppendStatement.statement]
      )
    }
  }

  private var all: [Connection] { [fetch, bulk] + others }

  /// Begins to connect; on the loop.
  public func open() {
    for connection in all { connection.open() }
  }

  /// Closes the connections; on the loop.
  public func close() {
    for connection in all { connection.close() }
  }

  /// The connection for a rare transaction or a list: the one on which the least waits.
  var other: Connection {
    // The array is never empty.
    others.min { $0.pending < $1.pending } ?? fetch
  }

  /// How every connection of the service is made.
  ///
  /// `lockPatience` is how long a statement waits for a row that somebody else has locked.
  static func configuration(
    _ target: String,
    _ statements: [Statement],
    lockPatience: String = "10s"
  ) -> Connection.Configuration {
    .init(
      target: target,
      applicationName: "jejak",
      setup: setup + ["set lock_timeout = '\(lockPatience)'"],
      statements: statements
    )
  }
}
