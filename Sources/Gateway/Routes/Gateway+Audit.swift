import Accounts
import EventLog
import HTTP
import Profiles
import Projections

extension Gateway {
  /// Answers `GET /v1/audit`, to operators.
  func audit(_ request: Request) async throws(Problem) -> Response {
    let asked = try HistoryRequest(request, known: ["user"])
    let query = try Self.auditQuery(asked)
    let cursor = try asked.cursor(query.fingerprint).map { Position($0) }
    let reader = try await self.operator(request, scope: .auditRead)
    guard asked.format == .json else {
      return try await export(asked, query, to: reader, after: cursor)
    }
    let limit = try asked.pageLength()
    do throws(AccountsError) {
      let range = try await accounts.range(of: query)
      let found = try await accounts.audit(query, in: range, after: cursor, limit: limit + 1)
      var response = Page(found, limit: limit) { "\(query.fingerprint) \($0.event.position)" }
        .response(request) { found, body in
          found.event.writeHistoryEntry(for: .operator(keyName: found.keyName), into: &body)
        }
      response.add("Vary", "Accept")
      return response
    } catch {
      throw Problem(error)
    }
  }

  private static func auditQuery(_ asked: HistoryRequest) throws(Problem) -> AuditQuery {
    var query = AuditQuery(filter: asked.filter, order: asked.order)
    if let text = asked.query["user"] {
      guard let user = UserID(text) else {
        throw .malformedRequest("The query parameter 'user' is the id of a user.")
      }
      query.user = user
    }
    query.stream = try asked.query.choice(
      "stream",
      [("profile", Event.Stream.profile), ("access", .access)],
      standard: nil
    )
    return query
  }

  private func export(
    _ asked: HistoryRequest,
    _ query: AuditQuery,
    to reader: Operator,
    after cursor: Position?
  ) async throws(Problem) -> Response {
    let limit = try asked.exportLength()
    let accounts = accounts
    do throws(AccountsError) {
      let range = try await accounts.range(of: query)
      let export = HistoryExport(
        format: asked.format,
        limit: limit,
        isForOperator: true,
        page: { last, length in
          let place = last?.event.position ?? cursor
          return try await accounts.audit(query, in: range, after: place, limit: length)
        },
        check: {
          try await accounts.checkStillValid(reader)
          // A rollback of audit_entries may have put an older table there.
          guard try await accounts.range(of: query).last >= range.last else {
            throw AccountsError.unavailable
          }
        }
      )
      let first = try await accounts.audit(
        query,
        in: range,
        after: cursor,
        limit: export.nextLength(after: 0)
      )
      return export.response("audit", first: first)
    } catch {
      throw Problem(error)
    }
  }
}
