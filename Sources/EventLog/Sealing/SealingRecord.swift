public import Keys
public import Postgres

/// How a log is sealed, as the database says.
public struct SealingRecord: Sendable {
  /// The master key in use; nil where none has been told yet.
  public let inUse: Keyring.InUse?
  /// Whether every payload is sealed.
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
