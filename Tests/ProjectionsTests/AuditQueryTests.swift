import Clocks
import EventLog
import Postgres
import Profiles
import Projections
import TestSupport
import Testing

@Suite("An audit", .database)
struct AuditQueryTests {
  private static let key = Identifier<Actor>(high: 1, low: 2)

  /// Appends random events, some of them an operator's, with their entries; all events in order.
  private static func makeLog(_ count: Int, seed: UInt64) async throws -> [RecordedEvent] {
    try await withLane { loop, lane, _ async throws in
      var log = RandomLog(seed: seed)
      try await log.append(count, to: lane, on: loop)
    }
    let session = try TestDatabase.current.session()
    try session.script(
      """
      update events set actor_kind = 2, actor_id = '\(key)' where position % 4 = 0;
      insert into audit_entries
        select position, recorded_at, user_id, actor_id, version, stream, actor_kind, type, changed
          from events;
      """
    )
    let rows = try session.query(
      "select \(RecordedEvent.columns) from events order by position"
    )
    return TestKeys.events(rows)
  }

  /// All pages of `query`, each of at most `limit` entries.
  private static func positions(
    _ query: AuditQuery,
    limit: Int,
    _ session: borrowing BlockingConnection
  ) throws -> [Position] {
    let range = AuditQuery.Range(
      try session.query(AuditQuery.rangeStatement.sql, query.rangeParameters)
    )
    var found: [Position] = []
    while true {
      let (statement, parameters) = query.page(in: range, after: found.last, limit: limit)
      let rows = try session.query(statement.sql, parameters)
      found += AuditedEvent.all(rows, TestKeys.keyring).map(\.event.position)
      if rows.count < limit { return found }
    }
  }

  /// The same of one user's stream, read from the log.
  private static func positions(
    of user: UserID,
    _ query: AuditQuery,
    _ stream: Event.Stream,
    limit: Int,
    _ session: borrowing BlockingConnection
  ) throws -> [Position] {
    var found: [RecordedEvent] = []
    while true {
      let (statement, parameters) = History.page(
        of: user,
        stream: stream,
        order: query.order,
        filter: query.filter,
        after: found.last?.version,
        limit: limit
      )
      let rows = try session.query(statement.sql, parameters)
      found += AuditedEvent.all(rows, TestKeys.keyring).map(\.event)
      if rows.count < limit { return found.map(\.position) }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `finds what a look at every event finds, whatever is asked`(seed: UInt64) async throws {
    let events = try await Self.makeLog(250, seed: seed)
    let session = try TestDatabase.current.session()
    var questions = RandomQuestions(events: events, key: Self.key, seed: seed)
    for number in 0..<150 {
      let query = questions.next()
      let limit = 1 + number % 40
      let oldestFirst = events.filter { matches($0, query) }.map(\.position)
      let expected = query.order == .oldestFirst ? oldestFirst : oldestFirst.reversed()
      let found = try Self.positions(query, limit: limit, session)
      #expect(found == expected, "seed \(seed), question \(number): \(query)")
      guard let user = query.user, let stream = query.stream else { continue }
      let own = try Self.positions(of: user, query, stream, limit: limit, session)
      #expect(own == expected, "seed \(seed), question \(number): \(query)")
    }
  }

  @Test func `takes an instant for the first position at or after it`() async throws {
    let events = try await Self.makeLog(100, seed: 4)
    let session = try TestDatabase.current.session()
    func position(at microseconds: Int64) throws -> Int64 {
      var parameters = Parameters()
      parameters.add(Timestamp(microseconds: microseconds))
      return try session.query("select position_at($1::timestamptz)", parameters).integer(0, 0)
    }
    for time in Set(events.map(\.recordedAt.microseconds)).flatMap({ [$0 - 1, $0, $0 + 1] }) {
      let first = events.first { $0.recordedAt.microseconds >= time }?.position.rawValue
      #expect(try position(at: time) == first ?? 101)
    }
    #expect(try position(at: 0) == 1)
    try session.script("truncate events")
    #expect(try position(at: 0) == 1)
  }

  @Test func `has cursors of its own for every list`() throws {
    let user = UserID(at: .now())
    var fields = HistoryFilter()
    fields.fields = ["a", "b"]
    var reversed = HistoryFilter()
    reversed.fields = ["b", "a"]
    var joined = HistoryFilter()
    joined.fields = ["a field 1 b"]
    var actor = HistoryFilter()
    actor.actor = .system
    let queries = [
      AuditQuery(), AuditQuery(user: user), AuditQuery(stream: .profile),
      AuditQuery(order: .oldestFirst), AuditQuery(filter: fields), AuditQuery(filter: joined),
      AuditQuery(filter: actor),
    ]
    #expect(Set(queries.map(\.fingerprint)).count == queries.count)
    #expect(fields.fingerprint("") == reversed.fingerprint(""))
  }
}

/// Whether `query` asks for `event`; says the rules a second time.
private func matches(_ event: RecordedEvent, _ query: AuditQuery) -> Bool {
  let filter = query.filter
  let isActor =
    switch filter.actor {
    case nil: true
    case .system: event.actor == .system
    case .anyone(let id): event.actor.id == id
    case .user(let id): event.actor.kind == 1 && event.actor.id == id
    case .operator(let id): event.actor.kind == 2 && event.actor.id == id
    }
  return isActor
    && (query.user ?? event.user) == event.user
    && (query.stream?.rawValue ?? event.stream) == event.stream
    && (filter.types.isEmpty || filter.types.contains { $0.rawValue == event.type })
    && (filter.fields.isEmpty || filter.fields.contains { event.changed.contains($0) })
    && (filter.since.map { event.recordedAt >= $0 } ?? true)
    && (filter.until.map { event.recordedAt < $0 } ?? true)
}

/// Questions made of what is in a log, and of what is not.
private struct RandomQuestions {
  let events: [RecordedEvent]
  let key: Identifier<Actor>
  private var generator: SplitMix

  init(events: [RecordedEvent], key: Identifier<Actor>, seed: UInt64) {
    self.events = events
    self.key = key
    generator = SplitMix(state: seed)
  }

  mutating func next() -> AuditQuery {
    var query = AuditQuery(order: chance(2) ? .newestFirst : .oldestFirst)
    if chance(3) { query.user = event().user }
    if chance(2) { query.stream = chance(2) ? .profile : .access }
    if chance(3) { query.filter.actor = actor() }
    if chance(3) {
      query.filter.types = (0...draw(2)).map { _ in
        Event.Kind.allCases[draw(Event.Kind.allCases.count)]
      }
    }
    if chance(3) {
      let known = events.flatMap(\.changed) + ["no such field", "{}", "\"", "ProfileUpdated"]
      query.filter.fields = (0...draw(3)).map { _ in known[draw(known.count)] }
    }
    if chance(3) { query.filter.since = instant() }
    if chance(3) { query.filter.until = instant() }
    return query
  }

  private mutating func actor() -> HistoryFilter.Cause {
    let someone = event().actor.id ?? key
    switch draw(5) {
    case 0: return .system
    case 1: return .anyone(key)
    case 2: return .operator(chance(2) ? key : someone)
    case 3: return .user(someone)
    default: return .anyone(someone)
    }
  }

  private mutating func instant() -> Timestamp {
    Timestamp(microseconds: event().recordedAt.microseconds + Int64(draw(3)) - 1)
  }

  private mutating func event() -> RecordedEvent { events[draw(events.count)] }

  private mutating func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

  private mutating func chance(_ one: Int) -> Bool { draw(one) == 0 }
}
