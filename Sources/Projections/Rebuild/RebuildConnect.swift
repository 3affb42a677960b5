import EventLog
import Postgres
import Profiles

/// How the threads of one process that rebuilds come to connections, and who they are.
struct RebuildConnect: Sendable {
  let target: String
  /// What each session begins with, such as `set role`.
  let setup: [String]
  /// The process, as the lease names it.
  let holder = RebuildID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))

  func open() throws(BlockingConnection.Failure) -> BlockingConnection {
    try BlockingConnection(target: target, applicationName: "jejak rebuild", setup: setup)
  }
}
