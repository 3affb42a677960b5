public import EventLog
public import Keys
public import Postgres
public import Profiles
import Sodium

/// The keys of the logs that tests write.
public enum TestKeys {
  private static let firstKey = MasterKeys()
  /// The master key that every migrated test database has in use: number 1.
  public static let inUse = Keyring.begin(firstKey, isComplete: true)
  /// The same of a log that is not sealed yet, with a secret of its own.
  private static let begun = Keyring.begin(firstKey, isComplete: false)
  /// That one, and another that a test can take into use: number 2.
  public static let masterKeys: MasterKeys = {
    var keys = firstKey
    _ = keys.add()
    return keys
  }()
  /// What opens every payload that tests have sealed.
  public static let keyring = made(acceptsPlain: false)
  /// The same, which reads payloads as well that a test has written as they are.
  public static let lenient = made(acceptsPlain: true)

  /// A keyring with the same keys, for a test that takes another one into use.
  public static func newKeyring() -> Keyring { made(acceptsPlain: false) }

  private static func made(acceptsPlain: Bool) -> Keyring {
    do throws(KeyringError) {
      return try Keyring(masterKeys, inUse: acceptsPlain ? begun : inUse)
    } catch {
      preconditionFailure("the key in use is one of them: \(error)")
    }
  }

  /// The key of a user whom a test has made.
  public static func key(of user: UserID) -> DataKey {
    // A digest has the 32 bytes of a key.
    DataKey(bytes: SHA256.digest(of: user.bytes)).unsafelyUnwrapped
  }

  /// Keeps the key of such a user in the test's database, if it has one.
  static func keep(of user: UserID) throws {
    guard let database = TestDatabase.bound else { return }
    let wrapped = try keyring.wrap(key(of: user), for: user)
    var parameters = Parameters()
    parameters.add(user)
    parameters.add(wrapped.masterKey)
    parameters.add(wrapped.bytes)
    try database.session().query(
      """
      insert into user_keys (user_id, master_key, wrapped_key)
        values ($1::uuid, $2::integer, $3::bytea) on conflict do nothing
      """,
      parameters
    )
  }

  /// The events in `rows`, which have the columns of `RecordedEvent`.
  public static func events(_ rows: Rows) -> [RecordedEvent] {
    EventReader.events(rows, lenient)
  }
}
