public import Clocks
public import EventLog
public import EventLoop
public import JSON
public import Postgres
public import Profiles

/// Events and users for tests of the log, which no request made.
public enum TestUser {
  /// The day on which every test happens.
  public static let today = CalendarDate.latestToday(unixSeconds: 1_796_000_000)

  /// An open schema: any attribute, any value.
  public static let schema: ProfileSchema = {
    do throws(SchemaError) {
      return try ProfileSchema(["type": "object", "additionalProperties": true])
    } catch {
      preconditionFailure("the schema above is one: \(error)")
    }
  }()

  /// The registration of `email`, with these attributes.
  public static func registration(
    _ email: String = "ada@example.com",
    attributes: JSON = [:]
  ) throws -> Registration {
    try Registration.read(
      [
        "email": .string(email), "password": "a long walk by the sea", "firstName": "Ada",
        "attributes": attributes,
      ],
      schema: schema,
      passwords: .standard,
      today: today
    ).registration
  }

  /// A user who is about to be registered, and the event that does it.
  public static func new(
    _ email: String = "ada@example.com",
    id: UserID = UserID(at: .now())
  ) throws -> (user: User, event: NewEvent) {
    let event = Event.userRegistered(try registration(email), nil)
    guard let user = User(id: id, first: event) else { throw NeverHappened() }
    try TestKeys.keep(of: id)
    let new = NewEvent(
      user: id,
      expected: .zero,
      key: TestKeys.key(of: id),
      event: event,
      actor: .user(id),
      source: Source(),
      document: user.document,
      status: user.status.rawValue
    )
    return (user, new)
  }

  /// The event that `body`, a merge patch, makes of `user`, and the user after it.
  public static func update(
    _ user: User,
    _ body: JSON
  ) throws -> (user: User, event: NewEvent) {
    let patch = try ProfilePatch(body, schema: schema, today: today)
    guard let event = try user.decide(.updateProfile(patch)).first else { throw NeverHappened() }
    var after = user
    after.apply(event)
    let new = NewEvent(
      user: user.id,
      expected: user.version,
      key: TestKeys.key(of: user.id),
      event: event,
      actor: .user(user.id),
      source: Source(),
      document: after.document
    )
    return (after, new)
  }

  /// The event that `command`, of the profile, makes of `user`, and the user after it.
  public static func decide(
    _ user: User,
    _ command: Command
  ) throws -> (user: User, event: NewEvent) {
    guard let event = try user.decide(command).first else { throw NeverHappened() }
    var after = user
    after.apply(event)
    let new = NewEvent(
      user: user.id,
      expected: user.version,
      key: TestKeys.key(of: user.id),
      event: event,
      actor: .system,
      source: Source(),
      document: after.document,
      status: after.status.rawValue
    )
    return (after, new)
  }

  /// An event of the access stream, after the version `last` of it.
  public static func access(
    _ user: UserID,
    after last: Version,
    _ event: Event = .signInFailed
  ) -> NewEvent {
    NewEvent(
      user: user,
      expected: last,
      key: TestKeys.key(of: user),
      event: event,
      actor: .system,
      source: Source()
    )
  }
}

extension NewEvent {
  /// Another event like this one, but for what is named.
  public func with(
    user: UserID? = nil,
    expected: Version? = nil,
    document: [UInt8]?? = .none,
    source: Source? = nil,
    receipt: Receipt? = nil
  ) -> NewEvent {
    NewEvent(
      user: user ?? self.user,
      expected: expected ?? self.expected,
      key: key,
      event: event,
      actor: actor,
      source: source ?? self.source,
      document: document ?? self.document,
      status: status,
      receipt: receipt ?? self.receipt
    )
  }
}

/// Runs `body` with a lane into the log of the test's database, on a loop of its own.
public func withLane<Value: Sendable>(
  _ body: @escaping @Sendable (EventLoop, AppendLane, Connection) async throws -> Value
) async throws -> Value {
  let target = try TestDatabase.current.target
  return try await withLoop { loop in
    let connection = Connection(
      loop: loop,
      configuration: .init(
        target: target,
        applicationName: "lane",
        setup: ["set role jejak_service"],
        statements: History.statements + [AppendStatement.statement]
      ),
      report: { _ in }
    )
    let lane = AppendLane(loop: loop, connection: connection)
    connection.open()
    try await loop.until { connection.isReady }
    let result: Result<Value, any Error>
    do {
      result = .success(try await body(loop, lane, connection))
    } catch {
      result = .failure(error)
    }
    connection.close()
    return try result.get()
  }
}

/// What the log must never break, whatever was done to it; read from the test's database.
public struct LogLaws: Sendable {
  /// How many events there are.
  public let events: Int64
  /// Whether their positions are 1, 2, 3, ….
  public let isGapless: Bool
  /// Whether each stream of each user has the versions 1, 2, 3, ….
  public let versionsAreGapless: Bool
  /// Whether time never falls along the positions.
  public let timeNeverFalls: Bool

  /// Reads the log.
  public init() throws {
    let rows = try TestDatabase.current.session().query(
      """
      select count(*), coalesce(bool_and(position = n), true),
             coalesce(bool_and(version = v), true), coalesce(bool_and(recorded_at >= earlier), true)
        from (select position, version, recorded_at,
                     row_number() over (order by position) as n,
                     row_number() over (partition by user_id, stream order by position) as v,
                     lag(recorded_at, 1, '-infinity') over (order by position) as earlier
                from events) as e
      """
    )
    events = rows.integer(0, 0)
    isGapless = rows.bool(0, 1)
    versionsAreGapless = rows.bool(0, 2)
    timeNeverFalls = rows.bool(0, 3)
  }

  /// Whether all of them hold.
  public var hold: Bool { isGapless && versionsAreGapless && timeNeverFalls }
}
