public import Keys
import Postgres
import Profiles

/// Seals, once, a log that was begun before payloads were sealed.
///
/// It works as the owner, batch by batch; what is left to do is told by the first byte of each
/// payload, so it goes on where an earlier run was stopped. At the end the table is written anew,
/// since PostgreSQL leaves the bytes of before in its pages, and the log is noted as sealed. From then
/// on nothing is read that is not sealed: processes of an earlier release must have ended before.
public struct LogSealing: ~Copyable {
  /// Events of one transaction.
  private static let batch: Int64 = 1_000
  /// Users who get a key in one transaction.
  private static let userBatch: Int64 = 1_000

  private let session: BlockingConnection
  private let keyring: Keyring

  /// What has become of the log.
  public enum Outcome: Sendable {
    /// It was sealed before.
    case already
    /// It is sealed now: so many events.
    case sealed(Int64)
    /// It was told to stop, and goes on the next time.
    case stopped
  }

  /// With a connection to `target` as the owner; `keyring` has the log's master key in use.
  public init(target: String, keyring: Keyring) throws {
    session = try BlockingConnection(
      target: target,
      applicationName: "jejak sealing",
      setup: ["set statement_timeout = 0", "set idle_in_transaction_session_timeout = 0"]
    )
    self.keyring = keyring
  }

  /// Seals what is not sealed; `goOn` is told after each batch up to which position everything is,
  /// of how many, and answers whether to go on.
  public func run(_ goOn: (_ done: Int64, _ total: Int64) -> Bool) throws -> Outcome {
    // One at a time; the others wait and find nothing left.
    try session.query(
      "select pg_advisory_lock(hashtext('jejak sealing ' || current_schema()))"
    )
    guard try !SealingRecord.read(session).isComplete else { return .already }
    try refuseSigned()
    try makeKeys()
    var (position, sealed) = (Int64(0), Int64(0))
    while let (reached, count) = try sealBatch(after: position) {
      (position, sealed) = (reached, sealed + count)
      guard goOn(position, try head()) else { return .stopped }
    }
    try session.script("vacuum (full, analyze) events")
    // What an earlier release may have appended meanwhile, while nobody can append more.
    try session.transaction { () throws -> Void in
      try holdErasures()
      try session.script("select from log_head for update")
      while let (reached, count) = try sealHere(after: position) {
        (position, sealed) = (reached, sealed + count)
      }
      try refuseSigned()
      try complete()
    }
    return .sealed(sealed)
  }

  /// Only what was never signed can have been begun before there was sealing.
  private func refuseSigned() throws {
    let isSigned = try session.query(
      "select exists (select from log_origins) or exists (select from checkpoints)"
    )
    if isSigned.bool(0, 0) { throw SealingError.isSigned }
  }

  /// Notes that the log is sealed, in the column and, where it counts, in the secret.
  private func complete() throws {
    try session.script("select from sealing for update")
    guard let inUse = try SealingRecord.read(session).inUse else { throw SealingError.keyIsGone }
    var parameters = Parameters()
    parameters.add(try keyring.complete(inUse).wrappedSecret)
    try session.query(
      "update sealing set is_complete = true, wrapped_secret = $1::bytea",
      parameters
    )
  }

  /// Keeps people from being erased until the transaction ends: nothing that they left, no key and no
  /// payload, may come back.
  private func holdErasures() throws {
    try session.script("lock table erasures in share mode")
  }

  private func head() throws -> Int64 {
    try session.query("select coalesce(max(position), 0) from events").integer(0, 0)
  }

  /// Makes keys for all who have none.
  private func makeKeys() throws {
    var last = UserID(high: 0, low: 0)
    while true {
      var parameters = Parameters()
      parameters.add(last)
      parameters.add(Self.userBatch)
      let rows = try session.query(
        """
        select user_id from current_users u
         where user_id > $1::uuid
           and not exists (select from user_keys k where k.user_id = u.user_id)
         order by user_id limit $2::bigint
        """,
        parameters
      )
      guard rows.count > 0 else { return }
      let users = (0..<rows.count).map { rows.identifier($0, 0, as: UserID.self) }
      try session.transaction { () throws -> Void in
        try holdErasures()
        try addKeys(users)
      }
      last = users[users.count - 1]
    }
  }

  private func addKeys(_ users: [UserID]) throws {
    // No rotation takes another master key into use before these are there for it to find.
    try session.script("select from sealing for share")
    guard let inUse = try SealingRecord.read(session).inUse else {
      throw KeyringError.missing(0, among: [])
    }
    try keyring.use(inUse)
    let keys = try users.map { try keyring.wrap(DataKey(), for: $0) }
    var parameters = Parameters()
    parameters.add(array: users) { $0 }
    parameters.add(array: keys) { $0.masterKey }
    parameters.add(array: keys) { $0.bytes }
    try session.query(
      """
      insert into user_keys (user_id, master_key, wrapped_key)
        select * from unnest($1::uuid[], $2::integer[], $3::bytea[]) n (user_id)
         where not exists (select from erasures e where e.user_id = n.user_id)
        on conflict do nothing
      """,
      parameters
    )
  }

  private func sealBatch(after position: Int64) throws -> (reached: Int64, count: Int64)? {
    try session.transaction { () throws -> (reached: Int64, count: Int64)? in
      // What a crash loses is sealed again; the end is waited for.
      try session.script("set local synchronous_commit = off")
      try holdErasures()
      return try sealHere(after: position)
    }
  }

  /// Seals the next events after `position` that are not; nil where there is none.
  private func sealHere(after position: Int64) throws -> (reached: Int64, count: Int64)? {
    let plain = try find(after: position)
    guard plain.count > 0 else { return nil }
    let keys = try keys(of: Set((0..<plain.count).map { plain.identifier($0, 1) }))
    var sealed: [(position: Int64, payload: [UInt8])] = []
    sealed.reserveCapacity(plain.count)
    for row in 0..<plain.count {
      let place = Sealing.Place(
        user: plain.identifier(row, 1),
        stream: plain.integer(row, 2),
        version: Version(plain.integer(row, 3)),
        type: plain.string(row, 4) ?? "",
        schema: plain.integer(row, 5)
      )
      guard let key = keys[place.user] else { throw KeyError.destroyed }
      sealed.append(
        (
          plain.integer(row, 0),
          Sealing.seal(Array(plain.bytes(row, 6)), at: place, key: key)
        )
      )
    }
    try write(sealed)
    return (sealed[sealed.count - 1].position, Int64(sealed.count))
  }

  private func find(after position: Int64) throws -> Rows {
    var parameters = Parameters()
    parameters.add(position)
    parameters.add(Self.batch)
    return try session.query(
      #"""
      select position, user_id, stream, version, type, schema, payload from events
       where position > $1::bigint and substring(payload from 1 for 1) <> '\x01'
       order by position limit $2::bigint
      """#,
      parameters
    )
  }

  /// The keys of these users, made where one has none.
  private func keys(of users: Set<UserID>) throws -> [UserID: DataKey] {
    var found = try read(users)
    let missing = users.filter { found[$0] == nil }.sorted()
    if !missing.isEmpty {
      try addKeys(missing)
      found = try read(users)
    }
    return found
  }

  private func read(_ users: Set<UserID>) throws -> [UserID: DataKey] {
    var parameters = Parameters()
    parameters.add(array: users) { $0 }
    let rows = try session.query(
      "select user_id, master_key, wrapped_key from user_keys where user_id = any ($1::uuid[])",
      parameters
    )
    var found: [UserID: DataKey] = [:]
    for row in 0..<rows.count {
      let user = rows.identifier(row, 0, as: UserID.self)
      let wrapped = WrappedKey(masterKey: rows.integer(row, 1), bytes: Array(rows.bytes(row, 2)))
      found[user] = try keyring.unwrap(wrapped, of: user)
    }
    return found
  }

  private func write(_ sealed: [(position: Int64, payload: [UInt8])]) throws {
    var parameters = Parameters()
    parameters.add(array: sealed) { $0.position }
    parameters.add(array: sealed) { $0.payload }
    try session.query(
      """
      update events e set payload = s.payload, payload_sha256 = sha256(s.payload)
        from unnest($1::bigint[], $2::bytea[]) as s (position, payload)
       where e.position = s.position
      """,
      parameters
    )
  }
}
