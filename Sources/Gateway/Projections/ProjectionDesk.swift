import Accounts
public import EventLoop
import JSON
public import Keys
import Postgres
import Profiles
import Projections

/// Where operators' requests about projections are carried out: in threads of their own, with a
/// connection for each, since they are rare and may take their time.
public final class ProjectionDesk: Sendable {
  private let pool: WorkerPool
  private let target: String
  private let keyring: Keyring

  /// A desk with connections to `target`, in the threads of `pool`.
  public init(target: String, keyring: Keyring, pool: WorkerPool) {
    self.keyring = keyring
    self.target = target
    self.pool = pool
  }

  /// What each session begins with.
  static let setup =
    ["set role jejak_service"] + SessionDefaults.statements + [
      "set statement_timeout = '20s'", "set lock_timeout = '10s'",
      "set timezone = 'UTC'",
    ]

  /// Runs `work` with a connection.
  func run<Value: Sendable>(
    _ work: @escaping @Sendable (borrowing BlockingConnection) throws -> Value
  ) async throws(Problem) -> Value {
    let target = target
    return try await perform { try work(Self.connection(target)) }
  }

  private static func connection(_ target: String) throws -> BlockingConnection {
    try BlockingConnection(target: target, applicationName: "jejak projections", setup: setup)
  }

  /// Rolls a projection back; `note` is part of the transaction that does.
  func rollBack(
    _ projection: any Projection.Type,
    note: @escaping @Sendable (borrowing BlockingConnection, Rollback.Report) throws -> Void
  ) async throws(Problem) -> Rollback.Report {
    let (target, keyring) = (target, keyring)
    return try await perform {
      try Rollback(target: target, keyring: keyring, setup: ["set role jejak_service"])
        .run(projection, note: note)
    }
  }

  private func perform<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws(Problem) -> Value {
    let target = target
    let result: Result<Value, any Error>
    do {
      result = try await pool.run { () -> Result<Value, any Error> in
        Result {
          do {
            return try work()
          } catch ProjectionError.busy(let name) {
            throw Self.underWay(name, try RebuildRecord.open(of: name, Self.connection(target)))
          }
        }
      }
    } catch {
      throw .overloaded()
    }
    switch result {
    case .success(let value): return value
    case .failure(let error): throw Self.problem(error)
    }
  }

  /// SQLSTATEs of refusals that pass: locks and time limits, and no more connections.
  private static let passing: Set = ["55P03", "57014", "40P01", "40001", "53300"]

  /// The refusal where a rebuild of the projection is open; nil where it has ended meanwhile.
  private static func underWay(_ name: String, _ open: RebuildRecord?) -> Problem {
    var problem = Problem(
      409,
      "rebuild-under-way",
      "The projection is being rebuilt.",
      detail: "A rebuild of \(name) is under way or waits; wait for it, resume or cancel it."
    )
    if let open {
      problem.members["rebuild"] = .string(open.id.description)
      problem.headers = [("Location", "/v1/projections/\(name)/rebuilds/\(open.id)")]
    }
    return problem
  }

  private static func problem(_ error: any Error) -> Problem {
    switch error {
    case let problem as Problem: return problem
    case let failure as BlockingConnection.Failure:
      if failure.isConnectionLost { return .unavailable("Nothing was changed.") }
      // The receipt is there: the same request is being carried out, or was.
      if failure.sqlState == "23505" { return Problem(.receiptExists) }
      if let state = failure.sqlState, passing.contains(state) {
        return .unavailable("Somebody else holds what is needed. Nothing was changed.")
      }
      return .failed(failure.safeDescription)
    case let error as ProjectionError:
      return Problem(409, "not-possible", "This can't be done now.", detail: "\(error)")
    default: return .failed("\(error)")
    }
  }
}
