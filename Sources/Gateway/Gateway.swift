public import Accounts
public import EventLog
public import EventLoop
public import HTTP
import JSON
public import Postgres
import Profiles

/// The HTTP interface of one event loop.
public final class Gateway: Sendable {
  /// What the gateways of all loops share.
  public final class Shared: Sendable {
    let underWay = RequestsUnderWay()
    let isTrustedProxy: @Sendable (String) -> Bool
    let report: @Sendable (_ requestID: String, _ message: String) -> Void
    let note: @Sendable (_ requestID: String, _ message: String) -> Void
    /// Whether all connections of all loops stand.
    public let readiness: Readiness
    let tail: LogTail
    /// What is wrong with projections.
    public let projectionHealth: ProjectionHealth
    /// Whether the log is signed.
    public let notaryHealth = NotaryHealth()
    /// Whether erasures are listed, and none is owed.
    public let erasureHealth = ErasureHealth()
    /// Whether the master key in use is to be had.
    public let keyHealth = KeyHealth()
    /// Where projections are looked after.
    let projectionDesk: ProjectionDesk?
    /// Called when somebody has been erased.
    let erased: @Sendable () -> Void

    /// `readiness` knows the connections of all loops; `tail` how far the log is; `isTrustedProxy`
    /// whose `X-Forwarded-For` counts; `report` is told of defects, `note` of what an operator may
    /// wonder about; `erased` is called after each erasure.
    public init(
      readiness: Readiness,
      tail: LogTail,
      projectionHealth: ProjectionHealth = ProjectionHealth(),
      projectionDesk: ProjectionDesk? = nil,
      erased: @escaping @Sendable () -> Void = {},
      note: @escaping @Sendable (_ requestID: String, _ message: String) -> Void = { _, _ in },
      isTrustedProxy: @escaping @Sendable (String) -> Bool,
      report: @escaping @Sendable (_ requestID: String, _ message: String) -> Void
    ) {
      self.readiness = readiness
      self.tail = tail
      self.projectionHealth = projectionHealth
      self.projectionDesk = projectionDesk
      self.erased = erased
      self.isTrustedProxy = isTrustedProxy
      self.report = report
      self.note = note
    }
  }

  let loop: EventLoop
  let accounts: Accounts
  let shared: Shared
  let feedPlaces = Places(Feed.limit)
  let progressPlaces = Places(progressLimit)
  private let requestIDs: LoopBound<RequestIDs>

  /// A gateway to `accounts`, on the same loop.
  public init(loop: EventLoop, accounts: Accounts, shared: Shared) {
    self.loop = loop
    self.accounts = accounts
    self.shared = shared
    requestIDs = LoopBound(RequestIDs(), on: loop)
  }

  /// Answers any request; there is no request that it leaves unanswered.
  public func answer(_ request: Request) async -> Response {
    let requestID = requestID(of: request)
    var response: Response
    do throws(Problem) {
      response = try await route(request, requestID)
    } catch {
      if let logged = error.logged { shared.report(requestID, logged) }
      response = error.response
    }
    response.add("X-Request-Id", requestID)
    if let stream = response.stream { response.stream = reported(stream, requestID) }
    return response
  }

  /// The same body; what breaks it off is reported, unless the client has gone.
  private func reported(
    _ stream: @escaping Response.Producer,
    _ requestID: String
  ) -> Response.Producer {
    { [shared] writer in
      do {
        try await stream(writer)
      } catch let closed as BodyWriter.Closed {
        throw closed
      } catch AccountsError.erased(let erasure) {
        shared.note(requestID, "the body was broken off: the user has been erased meanwhile")
        throw AccountsError.erased(erasure)
      } catch AccountsError.unauthenticated {
        shared.note(requestID, "the body was broken off: the reader's session or key has ended")
        throw AccountsError.unauthenticated
      } catch {
        shared.report(requestID, "the body was broken off: \(error)")
        throw error
      }
    }
  }

  /// The answer to a request that no route sees.
  public func refuse(_ request: Request, _ refusal: Server.Refusal) -> Response {
    var response = Problem(refusal).response
    response.add("X-Request-Id", requestID(of: request))
    return response
  }

  private func requestID(of request: Request) -> String {
    Context.acceptableRequestID(request) ?? requestIDs.value.next()
  }

  private func route(_ request: Request, _ requestID: String) async throws(Problem) -> Response {
    guard let resource = Resource(path: request.path) else { throw .notFound }
    let method = request.method == "HEAD" ? "GET" : request.method
    if method == "OPTIONS" {
      var response = Response(status: 204)
      response.add("Allow", resource.allow)
      if case .me = resource {
        response.add("Accept-Patch", Self.patchTypes.joined(separator: ", "))
      }
      return response
    }
    guard resource.methods.contains(method) else {
      var problem = Problem(405, "method-not-allowed", "This can't be done here.")
      problem.headers = [("Allow", resource.allow)]
      throw problem
    }
    switch resource {
    case .me:
      switch method {
      case "GET": return try await fetch(request)
      case "PATCH": return try await update(request, requestID)
      default: return try await eraseOwn(request, requestID)
      }
    case .user(let id):
      return try await method == "GET"
        ? fetch(request, id: id) : erase(request, requestID, id: id)
    case .export(let id): return try await export(request, id: id)
    case .difference(let id): return try await difference(request, id: id)
    case .revert(let id, let version):
      return try await revert(version, request, requestID, id: id)
    case .proof(let id, let version): return try await proof(of: version, request, id: id)
    case .users:
      return try await method == "GET" ? listUsers(request) : register(request, requestID)
    case .password: return try await changePassword(request, requestID)
    case .history: return try await history(request)
    case .userHistory(let id): return try await history(request, of: id)
    case .audit: return try await audit(request)
    case .sessions:
      switch method {
      case "GET": return try await listSessions(request)
      case "POST": return try await signIn(request, requestID)
      default: return try await endOtherSessions(request, requestID)
      }
    case .session(let id): return try await endSession(id, request, requestID)
    case .events: return try await feed(request)
    case .statistics: return try await statistics(request)
    case .projections: return try await listProjections(request)
    case .projection(let name, let resource):
      return try await projection(name, resource, request)
    case .tree(let resource): return try await tree(resource, request)
    case .livez: return try live(request)
    case .readyz: return try ready(request)
    }
  }
}

// What several routes do.
extension Gateway {
  /// Who holds the token that the request brings; `writes` where the request is a command.
  func holder(_ request: Request, writes: Bool = false) async throws(Problem) -> Holder {
    let digest = try presentedToken(request)
    do {
      return try await accounts.holder(ofDigest: digest, key: writes)
    } catch {
      throw Problem(error)
    }
  }

  func context(_ request: Request, _ requestID: String, _ session: SessionID?) -> Context {
    Context(
      request,
      requestID: requestID,
      session: session,
      isTrustedProxy: shared.isTrustedProxy
    )
  }

  /// The JSON body of a request whose media type is one of `names`.
  func body(
    of request: Request,
    types names: [String] = ["application/json"]
  ) throws(Problem) -> JSON {
    if let coding = request.header("Content-Encoding"), coding.lowercased() != "identity" {
      throw .unsupportedContentCoding
    }
    guard let type = request.header("Content-Type"), MediaType.isJSON(type, names) else {
      throw .unsupportedMediaType(accepted: names.joined(separator: " or "))
    }
    do {
      return try JSON.parse(request.body)
    } catch {
      throw Problem(error)
    }
  }

  /// Runs `work`, or gives the answer that the same request was given before.
  func idempotently(
    _ request: Request,
    principal: [UInt8],
    _ work: (IdempotencyKey?) async throws(Problem) -> Response
  ) async throws(Problem) -> Response {
    guard let key = try IdempotencyKey(request, principal: principal, accounts.keyring)
    else {
      return try await work(nil)
    }
    guard shared.underWay.begin(key.receipt) else { throw Problem(.receiptExists) }
    defer { shared.underWay.end(key.receipt) }
    if let replayed = try await replay(key) { return replayed }
    do {
      return try await work(key)
    } catch {
      // Another process was faster: its answer is there now.
      guard error.code == "request-in-progress", let replayed = try await replay(key) else {
        throw error
      }
      return replayed
    }
  }

  /// What makes the receipt of an outcome that is answered as `show` says; nil without a key.
  func receipt<Outcome>(
    _ key: IdempotencyKey?,
    _ show: @escaping @Sendable (Outcome) -> Response
  ) -> (@Sendable (Outcome) -> Receipt)? {
    guard let key else { return nil }
    return { key.receipt(for: show($0)) }
  }

  /// What makes the receipts of a request that may end the session of `holder`; refuses an
  /// Idempotency-Key that the user has brought with another request.
  func receipts(
    _ key: IdempotencyKey?,
    of holder: Holder
  ) async throws(Problem) -> @Sendable (Response) -> [Receipt] {
    guard let key else { return { _ in [] } }
    let ofUser = try key.receipt(of: holder.userID.bytes)
    guard try await kept(under: ofUser) == nil else { throw .idempotencyKeyReused }
    return { key.receipts(for: $0, ofUser: ofUser) }
  }

  private func kept(under key: [UInt8]) async throws(Problem) -> KeptReceipt? {
    do {
      return try await accounts.receipt(under: key)
    } catch {
      throw Problem(error)
    }
  }

  private func replay(_ key: IdempotencyKey) async throws(Problem) -> Response? {
    guard let kept = try await kept(under: key.receipt) else { return nil }
    guard kept.request == key.request else { throw .idempotencyKeyReused }
    guard var response = key.response(from: kept) else {
      throw .failed("a receipt can't be opened")
    }
    response.add("Idempotency-Replayed", "true")
    return response
  }
}
