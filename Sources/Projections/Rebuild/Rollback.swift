import Clocks
import EventLog
public import Keys
public import Postgres

/// Puts the table of before the last exchange back in its place; the other one is kept in turn.
///
/// A follower goes on from where the previous table stands. The table of the inline projection is
/// brought up to date first, since it has to hold every event.
public struct Rollback: ~Copyable {
  /// What a rollback has done.
  public struct Report: Sendable {
    /// The last event that the table holds.
    public let position: Int64
    /// The revision that it was built by.
    public let revision: Int32
    /// How long appends and fetches had to wait.
    public let pause: Duration
  }

  /// Events that may be left for the exchange, while everyone waits.
  private static let finalRoundLimit: Int64 = 200
  /// Rounds after which the exchange is made, however much is left.
  private static let roundLimit = 1_000
  /// How long it is tried to have the locks, with half a second from one time to the next.
  private static let patience = Duration.seconds(30)

  private let session: BlockingConnection
  private let keyring: Keyring

  /// With a connection to `target` that begins with `setup`.
  public init(target: String, keyring: Keyring, setup: [String] = []) throws {
    session = try RebuildConnect(target: target, keyring: keyring, setup: setup).open()
    self.keyring = keyring
  }

  /// Rolls back; throws where no previous table is kept, or a rebuild is under way.
  ///
  /// `note` is part of the transaction that exchanges the tables.
  public func run(
    _ projection: any Projection.Type,
    note: (borrowing BlockingConnection, Report) throws -> Void = { _, _ in }
  ) throws -> Report {
    guard try RebuildLease.lock(projection.name, session) else {
      throw ProjectionError.busy(projection.name)
    }
    return try rollBack(projection, note)
  }

  private func rollBack<P: Projection>(
    _: P.Type,
    _ note: (borrowing BlockingConnection, Report) throws -> Void
  ) throws -> Report {
    guard try previous(P.self) != nil else {
      throw ProjectionError.impossible("no previous table of \(P.name) is kept")
    }
    let deadline = Instant.now() + Self.patience
    while true {
      if P.mode == .inline { try bringUpToDate(P.self) }
      do {
        return try exchange(P.self, note)
      } catch let failure as BlockingConnection.Failure
        where failure.sqlState == "55P03" && .now() < deadline
      {
        try session.script("select pg_sleep(0.5)")
      }
    }
  }

  private func previous<P: Projection>(
    _: P.Type
  ) throws -> (position: Int64, revision: Int32)? {
    var parameters = Parameters()
    parameters.add(P.name)
    let rows = try session.query(
      "select previous_position, previous_revision from projections where name = $1::text",
      parameters
    )
    guard rows.count == 1, !rows.isNull(0, 0) else { return nil }
    return (try Position(rows.integer(0, 0)).checked.rawValue, rows.integer(0, 1))
  }

  private func head() throws -> Int64 {
    try session.query("select coalesce(max(position), 0) from events").integer(0, 0)
  }

  /// Applies to the previous table what has been appended since it was exchanged.
  private func bringUpToDate<P: Projection>(_: P.Type) throws {
    for _ in 0..<Self.roundLimit {
      guard let position = try previous(P.self)?.position else { return }
      let last = try head()
      guard last - position > Self.finalRoundLimit else { return }
      try session.transaction { () throws -> Void in
        try LogStep<P>.forgetErased(in: "previous", held: position, session)
        let reached = try step(P.self, after: position, upTo: last)
        var parameters = Parameters()
        parameters.add(P.name)
        parameters.add(reached)
        try session.query(
          "update projections set previous_position = $2::bigint where name = $1::text",
          parameters
        )
      }
    }
  }

  /// One step; where rows of the table don't fit the log, they are folded from its beginning.
  private func step<P: Projection>(
    _: P.Type,
    after position: Int64,
    upTo last: Int64
  ) throws -> Int64 {
    let table = P.name + "_previous"
    do {
      return try LogStep<P>.run(after: position, upTo: last, to: table, keyring, session)
    } catch is ProjectionError where P.partitioning == .byUser {
      let reached = min(last, position + Int64(LogStep<P>.size))
      try LogStep<P>.foldUsers(after: position, upTo: reached, to: table, keyring, session)
      return reached
    }
  }

  private func exchange<P: Projection>(
    _: P.Type,
    _ note: (borrowing BlockingConnection, Report) throws -> Void
  ) throws -> Report {
    var begin = Instant.now()
    let (held, revision) = try session.transaction { () throws -> (Int64, Int32) in
      if let position = try previous(P.self)?.position {
        try LogStep<P>.forgetErased(in: "previous", held: position, session)
      }
      begin = Instant.now()
      let live = try ExchangeLocks.take(P.self, session)
      guard let kept = try previous(P.self) else {
        throw ProjectionError.impossible("no previous table of \(P.name) is kept")
      }
      var held = kept.position
      let last = try live ?? head()
      if P.mode == .inline {
        while held < last { held = try step(P.self, after: held, upTo: last) }
      } else {
        try ExchangeLocks.takeTable(P.self, session)
      }
      try ExchangeLocks.exchange(
        P.name,
        "previous",
        held: held,
        displaced: last,
        revision: kept.revision,
        session
      )
      try note(
        session,
        Report(position: held, revision: kept.revision, pause: .now() - begin)
      )
      return (held, kept.revision)
    }
    return Report(position: held, revision: revision, pause: .now() - begin)
  }
}

/// The table that is kept for a rollback.
public enum PreviousTable {
  /// Drops it, if there is one; the bytes that it took.
  public static func drop(
    _ projection: any Projection.Type,
    _ connection: borrowing BlockingConnection
  ) throws -> Int64? {
    let size = try size(of: projection, connection)
    var parameters = Parameters()
    parameters.add(projection.name)
    try connection.query("select drop_projection_table($1::text, 'previous')", parameters)
    return size
  }

  /// The bytes that it takes with its indexes; nil where none is kept.
  public static func size(
    of projection: any Projection.Type,
    _ connection: borrowing BlockingConnection
  ) throws -> Int64? {
    let rows = try connection.query(
      "select pg_total_relation_size(to_regclass('\(projection.name)_previous'))"
    )
    return rows.isNull(0, 0) ? nil : rows.integer(0, 0)
  }
}
