import Accounts
import EventLog
import HTTP
import JSON
import Postgres
import Profiles
import Projections

extension Gateway {
  /// Rebuilds of a page of the list, at most.
  private static let rebuildLimit: Int32 = 50

  /// Answers `GET /v1/projections`.
  func listProjections(_ request: Request) async throws(Problem) -> Response {
    _ = try Query(request, known: [])
    _ = try await self.operator(request, scope: .projectionsRead)
    let states = try await states(of: ReadModels.all)
    return Self.answer(200, ["items": .array(states), "next": .null])
  }

  /// How projections stand, each with its open rebuild.
  private func states(
    of projections: [any Projection.Type]
  ) async throws(Problem) -> [JSON] {
    try await desk().run { (connection) throws -> [JSON] in
      let open = try RebuildRecord.open(connection)
      return try ProjectionState.read(projections, connection).map {
        $0.json(rebuild: open[$0.name])
      }
    }
  }

  /// Answers what lies below `/v1/projections/{name}`.
  func projection(
    _ name: String,
    _ resource: ProjectionResource,
    _ request: Request
  ) async throws(Problem) -> Response {
    guard let projection = ReadModels.named(name) else { throw .notFound }
    _ = try Query(request, known: [])
    if request.method != "POST" {
      let reader = try await self.operator(request, scope: .projectionsRead)
      return try await show(projection, resource, request, reader)
    }
    let who = try await self.operator(request, scope: .projectionsWrite)
    return try await change(projection, resource, request, who)
  }

  private func show(
    _ projection: any Projection.Type,
    _ resource: ProjectionResource,
    _ request: Request,
    _ reader: Operator
  ) async throws(Problem) -> Response {
    let name = projection.name
    switch resource {
    case .rebuild(let id):
      if request.acceptsEventStream { return try await follow(id, of: name, for: reader.id) }
      return Self.answer(200, try await rebuild(id, of: name).json)
    case .rebuilds:
      let found = try await desk().run { (connection) throws -> [RebuildRecord] in
        try RebuildRecord.list(of: name, limit: Self.rebuildLimit, connection)
      }
      return Self.answer(200, ["items": .array(found.map(\.json)), "next": .null])
    case .one, .order, .rollback, .resume:
      guard let state = try await states(of: [projection]).first else { throw .notFound }
      return Self.answer(200, state)
    }
  }

  private func change(
    _ projection: any Projection.Type,
    _ resource: ProjectionResource,
    _ request: Request,
    _ who: Operator
  ) async throws(Problem) -> Response {
    switch resource {
    case .rebuilds:
      var options = try RebuildRequest(
        request.body.isEmpty ? [:] : try body(of: request)
      ).options
      options.requestedBy = who.id
      let asked = options
      return try await noted(request, who) { (connection) throws -> Response in
        let id = try RebuildOrders.request(projection, asked, connection)
        let found = try RebuildRecord.find(id, connection)
        var response = Self.answer(202, found?.json ?? .null)
        response.add("Location", "/v1/projections/\(projection.name)/rebuilds/\(id)")
        return response
      }
    case .order(let id, .resume):
      let accepts = try RebuildRequest.acceptsDifferences(
        request.body.isEmpty ? [:] : try body(of: request)
      )
      return try await noted(request, who) { (connection) throws -> Response in
        try Self.give(.resume, to: id, of: projection, accepts, connection)
      }
    case .order(let id, let order):
      try Self.checkEmpty(request)
      return try await noted(request, who) { (connection) throws -> Response in
        try Self.give(order, to: id, of: projection, false, connection)
      }
    case .resume:
      try Self.checkEmpty(request)
      return try await noted(request, who) { (connection) throws -> Response in
        let stop = try ProjectionState.resume(projection.name, connection)
        let body: JSON = [
          "projection": .string(projection.name), "resumed": .bool(stop != nil),
          "position": stop.map { .integer($0.position.rawValue) } ?? .null,
        ]
        return Self.answer(200, body)
      }
    case .rollback:
      try Self.checkEmpty(request)
      return try await rollBack(projection, request, who)
    case .one, .rebuild: throw .notFound
    }
  }

  private static func give(
    _ order: ProjectionResource.Order,
    to id: RebuildID,
    of projection: any Projection.Type,
    _ acceptsDifferences: Bool,
    _ connection: borrowing BlockingConnection
  ) throws -> Response {
    guard let found = try RebuildRecord.find(id, connection),
      found.projection == projection.name
    else { throw Problem.notFound }
    guard found.isOpen else {
      throw ProjectionError.impossible("the rebuild is \(found.state.rawValue)")
    }
    switch order {
    case .pause:
      guard found.canPause else {
        throw ProjectionError.impossible("the rebuild waits already: it is \(found.state.rawValue)")
      }
      try RebuildOrders.want("pause", of: id, connection)
    case .cancel: try RebuildOrders.want("cancel", of: id, connection)
    case .resume where found.isHeld:
      try RebuildOrders.want("run", of: id, acceptingDifferences: acceptsDifferences, connection)
    case .resume:
      var options = RebuildOptions()
      options.isInService = true
      options.acceptsDifferences = acceptsDifferences
      try RebuildOrders.adopt(id, options, connection)
    }
    return answer(202, try RebuildRecord.find(id, connection)?.json ?? .null)
  }

  private func rollBack(
    _ projection: any Projection.Type,
    _ request: Request,
    _ who: Operator
  ) async throws(Problem) -> Response {
    let desk = try desk()
    return try await idempotently(request, principal: who.id.bytes) {
      (key: IdempotencyKey?) async throws(Problem) -> Response in
      let receipt = receipt(key) { (report: Rollback.Report) -> Response in
        Self.rolledBack(projection, report)
      }
      let report = try await desk.rollBack(projection) { connection, report in
        if let receipt { try Self.keep(receipt(report), connection) }
      }
      return Self.rolledBack(projection, report)
    }
  }

  private static func rolledBack(
    _ projection: any Projection.Type,
    _ report: Rollback.Report
  ) -> Response {
    answer(
      200,
      [
        "projection": .string(projection.name), "position": .integer(report.position),
        "revision": .integer(Int64(report.revision)),
      ]
    )
  }

  /// Runs `work` in one transaction with the receipt of its answer.
  private func noted(
    _ request: Request,
    _ who: Operator,
    _ work: @escaping @Sendable (borrowing BlockingConnection) throws -> Response
  ) async throws(Problem) -> Response {
    let desk = try desk()
    return try await idempotently(request, principal: who.id.bytes) {
      (key: IdempotencyKey?) async throws(Problem) -> Response in
      let receipt = receipt(key) { (response: Response) -> Response in response }
      return try await desk.run { (connection) throws -> Response in
        try connection.transaction { () throws -> Response in
          let response = try work(connection)
          if let receipt { try Self.keep(receipt(response), connection) }
          return response
        }
      }
    }
  }

  private static func keep(
    _ receipt: Receipt,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(receipt.key)
    parameters.add(receipt.request)
    parameters.add(receipt.answer)
    parameters.add(UserID?.none)
    try connection.query(Accounts.addingReceipt, parameters)
  }

  private static func checkEmpty(_ request: Request) throws(Problem) {
    guard request.body.isEmpty else { throw .malformedRequest("There is no body here.") }
  }

  func rebuild(_ id: RebuildID, of name: String) async throws(Problem) -> RebuildRecord {
    let found = try await desk().run { (connection) throws -> RebuildRecord? in
      try RebuildRecord.find(id, connection)
    }
    guard let found, found.projection == name else { throw .notFound }
    return found
  }

  private func desk() throws(Problem) -> ProjectionDesk {
    guard let desk = shared.projectionDesk else {
      throw .unavailable("Projections are not looked after here.")
    }
    return desk
  }

  private static func answer(_ status: UInt16, _ body: JSON) -> Response {
    var response = Response(status: status, contentType: "application/json", body: body.bytes)
    response.add("Cache-Control", "private, no-cache")
    return response
  }
}
