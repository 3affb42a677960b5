import CPostgres

/// Why an exchange with PostgreSQL gave no rows.
public enum PostgresError: Error, Sendable {
  /// The server refused; the transaction was rolled back and nothing happened.
  case refused(Refusal)
  /// No connection stood, or too much waited for it; nothing was sent. Try again later.
  case unavailable
  /// The connection broke after the statements were sent; whether they happened is unknown.
  case connectionLost

  /// What the server said, without the values that were part of the statement.
  public struct Refusal: Sendable {
    /// The five-character SQLSTATE.
    public let sqlState: String
    /// The constraint that refused, where one did.
    public let constraint: String?
    /// The server's words, for the log; nil where they could quote a person's data.
    public let message: String?

    /// A refusal as told by an error result of libpq.
    init(result: OpaquePointer?) {
      func field(_ code: Int32) -> String? {
        PQresultErrorField(result, code).map { String(cString: $0) }
      }
      sqlState = field(Refusal.sqlStateField) ?? "XX000"
      constraint = field(Refusal.constraintField)
      // Data exceptions and broken constraints quote values; the other classes name objects.
      let quotes = sqlState.hasPrefix("22") || sqlState.hasPrefix("23")
      message = quotes ? nil : field(Refusal.messageField)
    }

    /// The server is going away or has become read-only: the connection is of no more use.
    var endsConnection: Bool {
      sqlState.hasPrefix("08") || sqlState.hasPrefix("57P") || sqlState == "25006"
    }

    // The PG_DIAG_ constants are character macros, which Swift doesn't see.
    private static let sqlStateField = Int32(UInt8(ascii: "C"))
    private static let messageField = Int32(UInt8(ascii: "M"))
    private static let constraintField = Int32(UInt8(ascii: "n"))
  }
}

extension PostgresError: CustomStringConvertible {
  /// For logs.
  public var description: String {
    switch self {
    case .refused(let refusal):
      let constraint = refusal.constraint.map { " (\($0))" } ?? ""
      return "SQLSTATE \(refusal.sqlState)\(constraint): \(refusal.message ?? "refused")"
    case .unavailable: return "no connection to PostgreSQL"
    case .connectionLost: return "the connection to PostgreSQL was lost"
    }
  }
}
