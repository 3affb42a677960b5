import Keys
import Postgres
public import Profiles

/// Brings the keys of all users to the newest master key, batch by batch, while the service goes on.
///
/// First the newest key is taken into use, so that new users come under it; then the keys of all
/// others are wrapped anew. What is left to do is known from the table alone: a rotation that was
/// killed goes on where it was. One works at a time; another one waits for it.
public struct KeyRotation: ~Copyable {
  /// What has been done.
  public struct Report: Sendable {
    /// The master key that all users' keys are wrapped by.
    public let masterKey: Int32
    /// Whether that one was made for it.
    public let isNew: Bool
    /// The keys that were wrapped anew.
    public let rewrapped: Int64
    /// The users whose keys could not be opened, and stay as they are; the first hundred.
    public let unopened: [UserID]
    /// How many there are.
    public let failures: Int64
  }

  /// Keys of one transaction.
  private static let batch: Int64 = 1_000
  /// Users that are named.
  private static let namedLimit = 100

  private let session: BlockingConnection
  private let path: String

  /// With a connection to `target` as the owner, and the key file at `path`.
  public init(target: String, keyFile path: String) throws {
    session = try BlockingConnection(target: target, applicationName: "jejak key rotate")
    self.path = path
  }

  /// Rotates; `waiting` is told where another rotation is under way, `progress` counts keys.
  public func run(
    waiting: () -> Void,
    progress: (_ done: Int64, _ total: Int64) -> Void
  ) throws -> Report {
    let hasWaited = try lock(waiting)
    var keys = try MasterKeys(file: path)
    let inUse = try inUse()
    var isNew = false
    let isDone = try keys.newest == inUse.number && left(but: inUse.number) == 0
    // Whoever has waited wanted what the other one has done.
    if isDone, !hasWaited {
      keys = try MasterKeys.add(to: path)
      isNew = true
    }
    var present = inUse
    // Once more where the log was noted as sealed meanwhile.
    while keys.newest != present.number {
      try take(Keyring.renew(present, keys), insteadOf: present)
      present = try self.inUse()
    }
    let keyring = try Keyring(keys, inUse: present)
    return try rewrap(by: keyring, isNew: isNew, progress)
  }

  /// Waits until no other rotation is under way; whether there was one.
  private func lock(_ waiting: () -> Void) throws -> Bool {
    let key = "hashtext('jejak key rotate ' || current_schema())"
    if try session.query("select pg_try_advisory_lock(\(key))").bool(0, 0) { return false }
    waiting()
    try session.query("select pg_advisory_lock(\(key))")
    return true
  }

  private func inUse() throws -> Keyring.InUse {
    guard let inUse = try SealingRecord.read(session).inUse else {
      throw KeyringError.missing(0, among: [])
    }
    return inUse
  }

  /// Takes another master key into use; waits for the users that are being registered under the one
  /// of before.
  private func take(_ new: Keyring.InUse, insteadOf old: Keyring.InUse) throws {
    var parameters = Parameters()
    parameters.add(new.number)
    parameters.add(new.wrappedSecret)
    parameters.add(old.number)
    parameters.add(old.wrappedSecret)
    try session.query(
      """
      update sealing set master_key = $1::integer, wrapped_secret = $2::bytea
       where master_key = $3::integer and wrapped_secret = $4::bytea
      """,
      parameters
    )
  }

  private func left(but number: Int32) throws -> Int64 {
    var parameters = Parameters()
    parameters.add(number)
    return try session.query(
      "select count(*) from user_keys where master_key <> $1::integer",
      parameters
    ).integer(0, 0)
  }

  private func rewrap(
    by keyring: Keyring,
    isNew: Bool,
    _ progress: (Int64, Int64) -> Void
  ) throws -> Report {
    let total = try left(but: keyring.inUse)
    var (rewrapped, failures) = (Int64(0), Int64(0))
    var unopened: [UserID] = []
    var last = UserID(high: 0, low: 0)
    var isEnd = false
    while !isEnd {
      try session.transaction { () throws -> Void in
        let found = try find(after: last, but: keyring.inUse)
        var wrapped: [(user: UserID, key: WrappedKey)] = []
        for row in 0..<found.count {
          let user = found.identifier(row, 0, as: UserID.self)
          last = user
          let old = WrappedKey(
            masterKey: found.integer(row, 1),
            bytes: Array(found.bytes(row, 2))
          )
          do {
            wrapped.append((user, try keyring.wrap(keyring.unwrap(old, of: user), for: user)))
          } catch is KeyError {
            failures += 1
            if unopened.count < Self.namedLimit { unopened.append(user) }
          }
        }
        try write(wrapped, by: keyring.inUse)
        rewrapped += Int64(wrapped.count)
        isEnd = found.count < Self.batch
      }
      progress(rewrapped + failures, total)
    }
    return Report(
      masterKey: keyring.inUse,
      isNew: isNew,
      rewrapped: rewrapped,
      unopened: unopened,
      failures: failures
    )
  }

  private func find(after last: UserID, but number: Int32) throws -> Rows {
    var parameters = Parameters()
    parameters.add(last)
    parameters.add(number)
    parameters.add(Self.batch)
    return try session.query(
      """
      select user_id, master_key, wrapped_key from user_keys
       where user_id > $1::uuid and master_key <> $2::integer
       order by user_id limit $3::bigint for update
      """,
      parameters
    )
  }

  private func write(_ keys: [(user: UserID, key: WrappedKey)], by number: Int32) throws {
    guard !keys.isEmpty else { return }
    var parameters = Parameters()
    parameters.add(array: keys) { $0.user }
    parameters.add(array: keys) { $0.key.bytes }
    parameters.add(number)
    try session.query(
      """
      update user_keys k set master_key = $3::integer, wrapped_key = e.wrapped_key
        from unnest($1::uuid[], $2::bytea[]) as e (user_id, wrapped_key)
       where k.user_id = e.user_id
      """,
      parameters
    )
  }
}
