import EventLog
public import Postgres

/// What was kept of a request that carried an Idempotency-Key.
public struct KeptReceipt: Sendable {
  /// SHA-256 over the request.
  public let request: [UInt8]
  /// The sealed answer.
  public let answer: [UInt8]
  /// When the request was carried out, as the log tells time.
  public let createdAt: Timestamp
}

extension Accounts {
  /// How long receipts are kept.
  public static let receiptLifetime = Duration.seconds(24 * 3600)

  /// The receipt under `key`, SHA-256 over who asked and their Idempotency-Key.
  public func receipt(under key: [UInt8]) async throws(AccountsError) -> KeptReceipt? {
    var parameters = Parameters()
    parameters.add(key)
    parameters.add(Self.receiptLifetime)
    let rows = try await read(SQL.findReceipt, parameters)
    guard rows.count == 1 else { return nil }
    return KeptReceipt(
      request: Array(rows.bytes(0, 0)), answer: Array(rows.bytes(0, 1)),
      createdAt: rows.timestamp(0, 2))
  }

  /// Deletes receipts and sessions whose time is over, a bounded number at a time.
  public func tidy() {
    later { [self] in
      var receipts = Parameters()
      receipts.add(Self.receiptLifetime)
      _ = try await transaction([(SQL.forgetReceipts, receipts)])
      var sessions = Parameters()
      sessions.add(rules.lifetimes.idle)
      _ = try await transaction([(SQL.forgetSessions, sessions)])
    }
  }
}
