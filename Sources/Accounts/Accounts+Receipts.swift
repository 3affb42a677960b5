public import Clocks
import EventLog
import Postgres

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
  /// Keeps a receipt: its key, its request, its answer and the user it tells about, or null, are the
  /// parameters.
  public static var addingReceipt: String { SQL.addReceipt.sql }

  /// How long receipts are kept at the least.
  public static let receiptLifetime = Duration.seconds(24 * 3600)

  /// The receipt under `key`, SHA-256 over who asked and their Idempotency-Key.
  public func receipt(under key: [UInt8]) async throws(AccountsError) -> KeptReceipt? {
    var parameters = Parameters()
    parameters.add(key)
    let rows = try await read(SQL.findReceipt, parameters)
    guard rows.count == 1 else { return nil }
    return KeptReceipt(
      request: Array(rows.bytes(0, 0)),
      answer: Array(rows.bytes(0, 1)),
      createdAt: rows.timestamp(0, 2)
    )
  }

  /// Rows that one transaction deletes at most.
  private static let deletedAtOnce: Int64 = 10_000

  /// Deletes receipts and sessions whose time is over, a bounded number in each transaction.
  public func tidy() {
    later { [self] in
      for (statement, lifetime) in [
        (SQL.forgetReceipts, Self.receiptLifetime), (SQL.forgetSessions, rules.lifetimes.idle),
      ] {
        var parameters = Parameters()
        parameters.add(lifetime)
        parameters.add(Self.deletedAtOnce)
        var deleted = Self.deletedAtOnce
        while deleted == Self.deletedAtOnce {
          deleted = try await transaction([(statement, parameters)])[0].integer(0, 0)
        }
      }
    }
  }
}
