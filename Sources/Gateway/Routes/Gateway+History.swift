import Accounts
import EventLog
import HTTP
import Profiles

extension Gateway {
  /// Answers `GET /v1/users/me/history`.
  func history(_ request: Request) async throws(Problem) -> Response {
    let asked = try HistoryRequest(request)
    let list = try UserHistory(asked)
    let holder = try await holder(request)
    return try await history(request, asked, list, of: holder.userID, to: nil)
  }

  /// Answers `GET /v1/users/{id}/history`, to operators.
  func history(_ request: Request, of user: UserID) async throws(Problem) -> Response {
    let asked = try HistoryRequest(request)
    let list = try UserHistory(asked)
    let reader = try await self.operator(request, scope: .auditRead)
    try await requireKnown(user)
    return try await history(request, asked, list, of: user, to: reader)
  }

  /// Of users who have been erased there are tombstones.
  func requireKnown(_ user: UserID) async throws(Problem) {
    do throws(AccountsError) {
      _ = try await accounts.user(user)
    } catch .erased {
      return
    } catch {
      throw Problem(error)
    }
  }

  private func history(
    _ request: Request,
    _ asked: HistoryRequest,
    _ list: UserHistory,
    of user: UserID,
    to reader: Operator?
  ) async throws(Problem) -> Response {
    let fingerprint = list.fingerprint(of: user)
    let cursor = try asked.cursor(fingerprint).map { place throws(Problem) in
      try list.version(place)
    }
    guard asked.format == .json else {
      return try await export(asked, list, of: user, to: reader, after: cursor)
    }
    let limit = try asked.pageLength()
    func mark(_ event: RecordedEvent) -> String { "\(fingerprint) \(event.version)" }
    do throws(AccountsError) {
      var response: Response
      if reader == nil, asked.filter.isEmpty {
        let events = try await accounts.history(
          of: user,
          stream: list.stream,
          order: list.order,
          after: cursor,
          limit: limit + 1
        )
        response = Page(events, limit: limit, cursor: mark)
          .response(request) { $0.writeHistoryEntry(into: &$1) }
      } else {
        let events = try await list.page(accounts, of: user, cursor, nil, limit + 1)
        response = Page(events, limit: limit) { mark($0.event) }
          .response(request) { found, body in
            found.event.writeHistoryEntry(
              for: reader == nil ? .user : .operator(keyName: found.keyName),
              into: &body
            )
          }
      }
      response.add("Vary", "Accept")
      return response
    } catch {
      throw Problem(error)
    }
  }

  private func export(
    _ asked: HistoryRequest,
    _ list: UserHistory,
    of user: UserID,
    to reader: Operator?,
    after cursor: Version?
  ) async throws(Problem) -> Response {
    let limit = try asked.exportLength()
    let accounts = accounts
    do throws(AccountsError) {
      let head = try await accounts.head()
      let export = HistoryExport(
        format: asked.format,
        limit: limit,
        isForOperator: reader != nil,
        page: { last, length in
          try await list.page(accounts, of: user, last?.event.version ?? cursor, head, length)
        },
        check: { try await accounts.checkStillValid(reader) }
      )
      let length = export.nextLength(after: 0)
      let first = try await list.page(accounts, of: user, cursor, head, length)
      return export.response("history", first: first)
    } catch {
      throw Problem(error)
    }
  }
}

/// Which of a user's events are asked for.
private struct UserHistory: Sendable {
  let stream: Event.Stream
  let order: History.Order
  let filter: HistoryFilter

  init(_ asked: HistoryRequest) throws(Problem) {
    stream = try asked.query.choice(
      "stream",
      [("profile", Event.Stream.profile), ("access", .access)],
      standard: .profile
    )
    order = asked.order
    filter = asked.filter
  }

  func fingerprint(of user: UserID) -> String {
    filter.fingerprint("history \(user) \(stream.name) \(order.rawValue)")
  }

  /// At most `limit` of them after `cursor`, up to the position `last`.
  func page(
    _ accounts: Accounts,
    of user: UserID,
    _ cursor: Version?,
    _ last: Position?,
    _ limit: Int
  ) async throws(AccountsError) -> [AuditedEvent] {
    try await accounts.history(
      of: user,
      stream: stream,
      order: order,
      filter: filter,
      after: cursor,
      upTo: last,
      limit: limit
    )
  }

  func version(_ place: Int64) throws(Problem) -> Version {
    guard let number = Int32(exactly: place) else {
      throw .malformedRequest("The query parameter 'cursor' is none that was given here.")
    }
    return Version(number)
  }
}

extension Accounts {
  /// Throws where the key of a `reader` that may be an operator can't be used any more.
  func checkStillValid(_ reader: Operator?) async throws(AccountsError) {
    guard let reader else { return }
    guard try await isStillValid(reader.id) else { throw .unauthenticated }
  }
}
