import Accounts
import Clocks
import EventLog
import HTTP
import JSON
import Postgres
import Profiles

extension Gateway {
  /// Answers `POST /v1/sessions`: signs in.
  func signIn(_ request: Request, _ requestID: String) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    let body = try body(of: request)
    let (email, password) = try Self.credentials(body)
    let context = context(request, requestID, nil)
    return try await idempotently(request, principal: Self.principal(body)) {
      (key: IdempotencyKey?) async throws(Problem) -> Response in
      do throws(AccountsError) {
        let opened = try await accounts.signIn(
          email: email,
          password: password,
          source: context.source,
          receipt: receipt(key) { Self.signedIn($0, context) }
        )
        return Self.signedIn(opened, context)
      } catch {
        throw Problem(error)
      }
    }
  }

  /// Answers `GET /v1/sessions`.
  func listSessions(_ request: Request) async throws(Problem) -> Response {
    let query = try Query(request, known: ["limit", "cursor"])
    let limit = try query.limit()
    let cursor = try query.cursor { SessionID($0) }
    let holder = try await holder(request)
    let sessions: [ListedSession]
    do {
      sessions = try await accounts.sessions(of: holder.userID, after: cursor, limit: limit + 1)
    } catch {
      throw Problem(error)
    }
    return Page(sessions, limit: limit) { $0.id.description }
      .response(request) { session, body in
        Self.session(
          id: session.id,
          createdAt: session.createdAt,
          lastUsedAt: session.lastUsedAt,
          expiresAt: session.expiresAt,
          address: session.address,
          agent: session.agent,
          isCurrent: session.id == holder.session
        ).write(into: &body)
      }
  }

  /// Answers `DELETE /v1/sessions/{id or current}`.
  func endSession(
    _ name: String,
    _ request: Request,
    _ requestID: String
  ) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    return try await end(request, requestID) { holder throws(Problem) in
      if name == "current" { return .one(holder.session) }
      guard let id = SessionID(name) else { throw .notFound }
      return .one(id)
    }
  }

  /// Answers `DELETE /v1/sessions?except=current`.
  func endOtherSessions(
    _ request: Request,
    _ requestID: String
  ) async throws(Problem) -> Response {
    let query = try Query(request, known: ["except"])
    guard query["except"] == "current" else {
      throw .malformedRequest("Say except=current: the session that asks is kept.")
    }
    return try await end(request, requestID) { .allExcept($0.session) }
  }

  private func end(
    _ request: Request,
    _ requestID: String,
    _ choose: (Holder) throws(Problem) -> Accounts.EndedSessions
  ) async throws(Problem) -> Response {
    let presented = try presentedToken(request)
    // The session may have ended by this very request, whose answer was lost.
    return try await idempotently(request, principal: presented) {
      (key: IdempotencyKey?) async throws(Problem) -> Response in
      let holder = try await holder(request, writes: true)
      let sessions = try choose(holder)
      let receipts = try await receipts(key, of: holder)
      let context = context(request, requestID, holder.session)
      do throws(AccountsError) {
        try await accounts.end(
          sessions,
          of: holder,
          source: context.source,
          receipts: receipts(Response(status: 204))
        )
        return Response(status: 204)
      } catch {
        throw Problem(error)
      }
    }
  }

  /// The digest of the presented token, whether anybody holds it or not.
  func presentedToken(_ request: Request) throws(Problem) -> [UInt8] {
    guard let digest = Bearer.tokenDigest(of: request) else {
      if Bearer.kind(of: request) == .apiKey { throw .forUsers }
      throw .authenticationRequired(presented: Bearer.isPresented(in: request))
    }
    return digest
  }

  private static func credentials(_ body: JSON) throws(Problem) -> (String, Password) {
    guard let members = body.object else {
      throw .invalid([FieldError(.wrongType, at: .root, "Send an object.")])
    }
    var errors: [FieldError] = []
    func text(_ name: String) -> String? {
      let pointer = JSONPointer([name])
      switch members[name] {
      case .string(let text)?: return text
      case nil, .null?: errors.append(FieldError(.required, at: pointer, "This is needed."))
      default: errors.append(FieldError(.wrongType, at: pointer, "This is a text."))
      }
      return nil
    }
    let email = text("email")
    let typed = text("password")
    for member in members where member.key != "email" && member.key != "password" {
      errors.append(
        FieldError(.unknownField, at: JSONPointer([member.key]), "There is no such field.")
      )
    }
    var password: Password?
    if let typed {
      password = Password(presented: typed)
      if password == nil {
        errors.append(
          FieldError(
            .passwordTooLong,
            at: "/password",
            "A password has at most \(Password.maximumLength) bytes, and no U+0000."
          )
        )
      }
    }
    guard errors.isEmpty, let email, let password else { throw .invalid(errors) }
    return (email, password)
  }

  private static func signedIn(_ opened: OpenedSession, _ context: Context) -> Response {
    var body: [UInt8] = []
    body += "{\"token\":\"\(opened.token.text)\",\"expiresAt\":\"\(opened.expiresAt)\"".utf8
    body += ",\"session\":".utf8
    session(
      id: opened.id,
      createdAt: opened.createdAt,
      lastUsedAt: opened.createdAt,
      expiresAt: opened.expiresAt,
      address: context.source.address,
      agent: context.source.agent,
      isCurrent: true
    ).write(into: &body)
    body += ",\"user\":".utf8
    body += UserDocument.body(opened.user)
    body += "}".utf8
    return secret(201, body)
  }

  /// An answer that holds a token, which no cache may keep.
  static func secret(_ status: UInt16, _ body: [UInt8]) -> Response {
    var response = Response(status: status, contentType: "application/json", body: body)
    response.add("Cache-Control", "no-store")
    return response
  }

  private static func session(
    id: SessionID,
    createdAt: Timestamp,
    lastUsedAt: Timestamp,
    expiresAt: Timestamp,
    address: String?,
    agent: String?,
    isCurrent: Bool
  ) -> JSON {
    [
      "id": .string(id.description), "createdAt": .string(createdAt.description),
      "lastUsedAt": .string(lastUsedAt.description), "expiresAt": .string(expiresAt.description),
      "address": address.map(JSON.string) ?? .null, "agent": agent.map(JSON.string) ?? .null,
      "current": .bool(isCurrent),
    ]
  }
}
