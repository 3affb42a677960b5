import Accounts
import EventLog
import HTTP
import JSON
import MerkleTree
import Notary
import Profiles
import Sodium

/// What can be had of the tree over the log, by anyone.
enum TreeResource: Equatable {
  case checkpoint
  case key
  case tile(TilePath)

  /// What `path`, which begins with `/v1/log/`, names; nil for nothing.
  init?(path: Substring) {
    let prefix = "/v1/log/"
    guard path.hasPrefix(prefix) else { return nil }
    let rest = path.dropFirst(prefix.count)
    switch rest {
    case "checkpoint": self = .checkpoint
    case "key": self = .key
    default:
      guard rest.hasPrefix("tile/"), let tile = TilePath(rest.dropFirst(5)) else { return nil }
      self = .tile(tile)
    }
  }
}

extension Gateway {
  /// Answers `GET /v1/log/…`: C2SP tlog-checkpoint and tlog-tiles.
  func tree(_ resource: TreeResource, _ request: Request) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    switch resource {
    case .checkpoint: return try await checkpoint()
    case .key: return try await verifierKeys()
    case .tile(let path): return try await tile(path)
    }
  }

  private func checkpoint() async throws(Problem) -> Response {
    guard
      let found = try await reading({ () throws(AccountsError) in try await accounts.checkpoint() })
    else {
      throw .notSignedYet
    }
    return Self.text(found.note, caching: "no-cache")
  }

  private func verifierKeys() async throws(Problem) -> Response {
    let keys = try await reading { () throws(AccountsError) in try await accounts.verifierKeys() }
    guard !keys.isEmpty else { throw .notSignedYet }
    return Self.text(keys.map { $0 + "\n" }.joined(), caching: "no-cache")
  }

  private func tile(_ path: TilePath) async throws(Problem) -> Response {
    let hashes = try await reading { () throws(AccountsError) in
      try await accounts.tile(path.tile)
    }
    let count = path.width * SHA256.byteCount
    guard let hashes, hashes.count >= count else { throw .notFound }
    var response = Response(
      status: 200,
      contentType: "application/octet-stream",
      body: Array(hashes.prefix(count))
    )
    response.add("Cache-Control", "public, max-age=31536000, immutable")
    return response
  }

  /// Answers `GET /v1/users/{me or id}/history/{version}/proof`: C2SP tlog-proof.
  func proof(of version: Version, _ request: Request, id: UserID?) async throws(Problem) -> Response
  {
    let stream = try Query(request, known: ["stream"]).choice(
      "stream",
      [("profile", Event.Stream.profile), ("access", .access)],
      standard: .profile
    )
    let user = try await historyOwner(request, id)
    let found = try await reading { () throws(AccountsError) in
      try await accounts.proof(of: user, stream, version)
    }
    switch found {
    case .proof(let proof):
      return Self.text(proof.description, caching: "private, no-cache")
    case .notSignedYet: throw .notInTreeYet
    case .damaged(let position): throw .unprovable(position)
    }
  }

  /// Whose events are asked for: of the erased, too, whoever may read their history can have proofs.
  private func historyOwner(_ request: Request, _ id: UserID?) async throws(Problem) -> UserID {
    guard let id, Bearer.kind(of: request) == .apiKey else {
      return try await asker(request, about: id, scope: .auditRead).user.id
    }
    _ = try await self.operator(request, scope: .auditRead)
    try await requireKnown(id)
    return id
  }

  private func reading<Value>(
    _ read: () async throws(AccountsError) -> Value
  ) async throws(Problem) -> Value {
    do throws(AccountsError) {
      return try await read()
    } catch {
      throw Problem(error)
    }
  }

  private static func text(_ text: String, caching: String) -> Response {
    var response = Response(
      status: 200,
      contentType: "text/plain; charset=utf-8",
      body: Array(text.utf8)
    )
    response.add("Cache-Control", caching)
    return response
  }
}

extension Problem {
  /// Nothing of the log was signed so far.
  fileprivate static var notSignedYet: Problem {
    var problem = Problem(404, "not-signed-yet", "The log was not signed yet.")
    problem.headers = [("Retry-After", "\(retryAfter)")]
    return problem
  }

  /// The event is younger than the last checkpoint.
  fileprivate static var notInTreeYet: Problem {
    var problem = Problem(
      404,
      "not-in-tree-yet",
      "This event was not signed yet.",
      detail: "Events are signed about once a second, unless the service says in /readyz why not."
    )
    problem.headers = [("Retry-After", "\(retryAfter)")]
    return problem
  }

  /// Log and tree don't give the root that was signed.
  fileprivate static func unprovable(_ position: Position) -> Problem {
    var problem = Problem(
      503,
      "unprovable-event",
      "This event can't be proven.",
      detail: "The event at position \(position), or the tree over the log, was damaged."
    )
    problem.headers = [("Retry-After", "\(retryAfter)")]
    problem.members["position"] = .integer(position.rawValue)
    problem.logged = "the event at position \(position) does not give the root that was signed"
    return problem
  }
}
