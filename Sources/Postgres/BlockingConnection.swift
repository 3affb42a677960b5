import CPostgres
import Clocks

/// A connection for commands: it blocks its thread, and runs one statement after the other.
public struct BlockingConnection: ~Copyable {
  /// Nil where memory ran out; libpq's functions then report a bad connection.
  let handle: OpaquePointer?
  /// How long an answer may take before the connection counts as lost; nil: for ever.
  let patience: Duration?

  /// Why a session could not be had, or a statement gave no rows.
  public struct Failure: Error, CustomStringConvertible {
    /// The words of libpq or the server, in one line; they may quote the statement's values.
    public let message: String
    /// The SQLSTATE, where the server refused a statement.
    public let sqlState: String?
    /// There is no connection, or no longer: another attempt may go well.
    public let isConnectionLost: Bool
    /// The words, if they can't quote a value: data exceptions and broken constraints do.
    public var safeDescription: String {
      guard let sqlState else { return message }
      let quotes = sqlState.hasPrefix("22") || sqlState.hasPrefix("23")
      return "SQLSTATE \(sqlState): \(quotes ? "refused" : message)"
    }
    /// The words.
    public var description: String { message }
  }

  /// Connects to `target`, a libpq connection string or URI, and runs `setup`.
  ///
  /// With `patience`, a statement whose answer takes longer finds the connection lost, and a dead
  /// network is noticed by TCP within seconds.
  public init(
    target: String,
    applicationName: String,
    setup: [String] = [],
    patience: Duration? = nil
  ) throws(Failure) {
    var settings = [
      ("dbname", target), ("application_name", applicationName), ("client_encoding", "UTF8"),
      ("connect_timeout", patience == nil ? "10" : "2"),
    ]
    if patience != nil { settings += Self.vigilance }
    self.patience = patience
    // From here on `deinit` closes it, whatever throws.
    handle = withCStrings(settings.map(\.0)) { keys in
      withCStrings(settings.map(\.1)) { values in PQconnectdbParams(keys, values, 1) }
    }
    guard PQstatus(handle) == CONNECTION_OK else {
      throw Failure(message: oneLine(PQerrorMessage(handle)), sqlState: nil, isConnectionLost: true)
    }
    // Notices go to the log of the server; they are no data.
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    for sql in setup { try script(sql) }
  }

  deinit {
    PQfinish(handle)
  }

  /// The backend's process id as the server told it at connecting; a pooler tells its own.
  public var announcedBackend: Int32 { PQbackendPID(handle) }

  /// Runs statements separated by semicolons as one transaction, for no rows.
  public func script(_ sql: String) throws(Failure) {
    let result: OpaquePointer?
    if let patience {
      result = try answer(within: patience) { PQsendQuery(handle, sql) }
    } else {
      result = PQexec(handle, sql)
    }
    defer { PQclear(result) }
    try check(result)
  }

  /// Runs one statement with bound values; `patience` goes before that of the connection.
  @discardableResult
  public func query(
    _ sql: String,
    _ parameters: Parameters = .init(),
    patience: Duration? = nil
  ) throws(Failure) -> Rows {
    let count = Int32(parameters.count)
    let result: OpaquePointer?
    if let patience = patience ?? self.patience {
      result = try answer(within: patience) {
        parameters.withPointers { values, lengths, formats in
          PQsendQueryParams(handle, sql, count, nil, values, lengths, formats, 1)
        }
      }
    } else {
      result = parameters.withPointers { values, lengths, formats in
        PQexecParams(handle, sql, count, nil, values, lengths, formats, 1)
      }
    }
    let rows = Rows(owning: result)
    try check(result)
    return rows
  }

  /// Runs `body` between `begin` and `commit`; rolls back where it throws.
  public func transaction<Result>(
    _ begin: String = "begin",
    _ body: () throws -> Result
  ) throws -> Result {
    try script(begin)
    do {
      let result = try body()
      try script("commit")
      return result
    } catch {
      // The first error is the one to tell; a failed rollback ends with the session.
      try? script("rollback")
      throw error
    }
  }

  /// Runs `copy … from stdin` and sends what `next` returns until it returns nil.
  public func copyIn(_ sql: String, _ next: () throws -> [UInt8]?) throws {
    let result = PQexec(handle, sql)
    defer { PQclear(result) }
    guard PQresultStatus(result) == PGRES_COPY_IN else { return try check(result) }
    do {
      while let chunk = try next() {
        let sent = chunk.withUnsafeBytes { bytes in
          PQputCopyData(
            handle,
            bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
            Int32(bytes.count)
          )
        }
        guard sent == 1 else { break }
      }
      PQputCopyEnd(handle, nil)
    } catch {
      PQputCopyEnd(handle, "given up")
      while let rest = PQgetResult(handle) { PQclear(rest) }
      throw error
    }
    try finish()
  }

  /// Waits for the results that end a copy.
  private func finish() throws(Failure) {
    var failure: Failure?
    if let patience { try awaitAnswer(until: .now() + patience) }
    while let result = PQgetResult(handle) {
      do throws(Failure) { try check(result) } catch { failure = failure ?? error }
      PQclear(result)
    }
    if let failure { throw failure }
  }

  func check(_ result: OpaquePointer?) throws(Failure) {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY, PGRES_SINGLE_TUPLE: return
    default:
      let state = PostgresError.Refusal(result: result).sqlState
      throw Failure(
        message: oneLine(result.map { PQresultErrorMessage($0) } ?? PQerrorMessage(handle)),
        sqlState: PQresultStatus(result) == PGRES_FATAL_ERROR ? state : nil,
        isConnectionLost: PQstatus(handle) == CONNECTION_BAD
      )
    }
  }
}

func oneLine(_ message: UnsafePointer<CChar>?) -> String {
  guard let message else { return "" }
  return String(cString: message).split(whereSeparator: \.isNewline)
    .map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "; ")
}
