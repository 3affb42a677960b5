import EventLog
import Keys
import Postgres
import Profiles

/// How the threads of one process that rebuilds come to connections, and who they are.
struct RebuildConnect: Sendable {
  let target: String
  /// What opens the payloads of the log.
  let keyring: Keyring
  /// What each session begins with, such as `set role`.
  let setup: [String]
  /// The process, as the lease names it.
  let holder = RebuildID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))

  /// What the sessions of a process call themselves.
  static func name(of holder: RebuildID) -> String { "jejak rebuild \(holder)" }

  func open() throws(BlockingConnection.Failure) -> BlockingConnection {
    try BlockingConnection(
      target: target,
      applicationName: Self.name(of: holder),
      setup: setup + Self.own
    )
  }

  /// A rebuild takes its time, and keeps its own pace; days are told as ISO 8601 has them.
  private static let own =
    SessionDefaults.statements + [
      // Rows, and the mark that they are there, are lost together or not at all, and what is lost is
      // done again; the exchange alone waits for the disk, and then for all before it.
      "set synchronous_commit = off",
      // What is written goes to the disk little by little, since commits wait behind it.
      "set backend_flush_after = '256kB'",
      "set statement_timeout = 0", "set lock_timeout = 0",
      "set idle_in_transaction_session_timeout = 0",
      "set datestyle = 'ISO'",
      "set timezone = 'UTC'", "set jit = off",
    ]
}
