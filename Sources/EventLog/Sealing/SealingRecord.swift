public import Keys
public import Postgres

/// How a log is sealed, as the database says.
public struct SealingRecord: Sendable {
  /// The master key in use; nil where none has been told yet.
  public let inUse: Keyring.InUse?
  /// Whether every payload is sealed, as the column says; what counts is what the secret says.
  public let isComplete: Bool

  /// Reads it.
  public static func read(_ connection: borrowing BlockingConnection) throws -> SealingRecord {
    let rows = try connection.query("select master_key, wrapped_secret, is_complete from sealing")
    guard rows.count == 1, !rows.isNull(0, 0) else {
      return SealingRecord(inUse: nil, isComplete: rows.count == 1 && rows.bool(0, 2))
    }
    return SealingRecord(
      inUse: .init(number: rows.integer(0, 0), wrappedSecret: Array(rows.bytes(0, 1))),
      isComplete: rows.bool(0, 2)
    )
  }

  /// Whether the log can't be one that has had no master key yet: it has keys of users, or was
  /// signed.
  ///
  /// Somebody has taken the master key out of the table; with a new one, the log would count as one
  /// that was begun before there was sealing, and what is plain in it would be believed.
  public static func hasLostItsKey(_ connection: borrowing BlockingConnection) throws -> Bool {
    // In one statement: another process may be the faster one.
    try connection.query(
      """
      select exists (select from sealing where master_key is null)
         and (exists (select from user_keys) or exists (select from log_origins)
              or exists (select from checkpoints))
      """
    ).bool(0, 0)
  }

  /// Sees that column and secret say the same; `keyring` has opened the secret.
  public func check(_ keyring: Keyring) throws(SealingError) {
    guard isComplete != keyring.acceptsPlain else { throw .columnDiffers(isComplete: isComplete) }
  }

  /// Takes the first master key into use, unless somebody has been faster.
  public static func begin(
    _ inUse: Keyring.InUse,
    _ connection: borrowing BlockingConnection
  ) throws {
    var parameters = Parameters()
    parameters.add(inUse.number)
    parameters.add(inUse.wrappedSecret)
    try connection.query("select use_master_key($1::integer, $2::bytea)", parameters)
  }
}
