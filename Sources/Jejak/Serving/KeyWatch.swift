import Clocks
import EventLog
import Gateway
import Keys
import Logging
import Postgres

/// Holds the key file against the database now and then, so that a key file that was lost is known
/// while a process still has the key.
struct KeyWatch {
  /// The pause between two looks, unless a key was asked for in vain.
  private static let interval = Duration.seconds(10)
  /// The pause between two looks at the keys of all users, while none was found to be out of reach.
  private static let usersInterval = Duration.seconds(3600)

  private let keyring: Keyring
  private let health: KeyHealth
  private let logger: Logger
  private var next = Instant.now()
  /// When the keys of all users are looked at again.
  private var nextUsers = Instant.now()

  init(_ keyring: Keyring, health: KeyHealth, logger: Logger) {
    self.keyring = keyring
    self.health = health
    self.logger = logger
  }

  /// Looks where it is time; says what has changed.
  mutating func look(_ connection: borrowing BlockingConnection) throws {
    if keyring.takeDoubt() { next = .now() }
    guard next <= .now(), let inUse = try SealingRecord.read(connection).inUse else { return }
    next = .now() + Self.interval
    let standing = keyring.check(inUse)
    try lookAtUsers(connection)
    guard health.set(standing, masterKey: inUse.number) != standing else { return }
    let number = LogValue.integer(Int(inUse.number))
    switch standing {
    case .good: logger.notice("the key file has the master key in use again", ["masterKey": number])
    case .remembered(let error):
      logger.error(
        "the key file no longer has the master key in use; put it back before the service ends",
        ["masterKey": number, "code": .string(error.code), "reason": .string(error.description)]
      )
    case .unknown(let error):
      logger.error(
        "the master key in use is not known; put it into the key file",
        ["masterKey": number, "code": .string(error.code), "reason": .string(error.description)]
      )
    }
  }

  /// Sees whether every user's key can be opened: a master key of before may have been taken out of
  /// the file too early.
  private mutating func lookAtUsers(_ connection: borrowing BlockingConnection) throws {
    guard nextUsers <= .now() else { return }
    let lacking = try WrappedKey.lacking(keyring.numbers, connection)
    nextUsers = .now() + (lacking.isEmpty ? Self.usersInterval : Self.interval)
    let before = health.set(lacking: lacking.first)
    guard before?.masterKey != lacking.first?.masterKey else { return }
    guard let (masterKey, users) = lacking.first else {
      logger.notice("the keys of all users can be opened again")
      return
    }
    logger.error(
      "keys of users are wrapped by a master key that is not known; put it back into the key file",
      ["masterKey": .integer(Int(masterKey)), "users": .integer(Int(users))]
    )
  }
}
