import Accounts
import Clocks
import EventLog
import HTTP

/// All entries of a list as one stream, page by page: the memory it takes doesn't depend on its
/// length.
struct HistoryExport: Sendable {
  /// Entries that are read at a time.
  static let pageLength = 500
  /// Pages after which it is asked again whether to go on.
  static let pagesBetweenChecks = 16
  /// Bytes that are written at a time, give or take an entry.
  static let pieceSize = 64 * 1024

  let format: HistoryRequest.Format
  /// Entries at most; nil: all.
  let limit: Int?
  /// Whether an operator reads it.
  let isForOperator: Bool
  /// The entries after one, in the order of the list.
  let page: @Sendable (AuditedEvent?, Int) async throws -> [AuditedEvent]
  /// Throws where what was sent can't be relied on; asked now and then, and at the end.
  let check: @Sendable () async throws -> Void

  /// The response that begins with `first`, the first page, and goes on with the others.
  ///
  /// `name` is that of the file.
  func response(_ name: String, first: [AuditedEvent]) -> Response {
    let isCSV = format == .csv
    var response = Response(
      status: 200,
      contentType: isCSV ? "text/csv; charset=utf-8; header=present" : "application/x-ndjson",
      stream: { writer in try await send(first, to: writer) }
    )
    let time = Timestamp.now().description.prefix(19).filter { $0 != "-" && $0 != ":" }
    response.add(
      "Content-Disposition",
      "attachment; filename=\"jejak-\(name)-\(time)Z.\(isCSV ? "csv" : "ndjson")\""
    )
    response.add("Cache-Control", "private, no-store")
    response.add("Vary", "Accept")
    return response
  }

  /// The length of the page after `sent` entries; 0 at the end.
  func nextLength(after sent: Int) -> Int {
    min(Self.pageLength, (limit ?? .max) - sent)
  }

  private func send(_ first: [AuditedEvent], to writer: BodyWriter) async throws {
    if format == .csv { try await writer.write(HistoryCSV.header) }
    var events = first
    var sent = 0
    var pages = 0
    while let last = events.last {
      let wanted = nextLength(after: sent)
      try await write(events, to: writer)
      sent += events.count
      pages += 1
      if pages % Self.pagesBetweenChecks == 0 { try await check() }
      let next = nextLength(after: sent)
      guard events.count == wanted, next > 0 else { break }
      events = try await page(last, next)
    }
    try await check()
  }

  private func write(_ events: [AuditedEvent], to writer: BodyWriter) async throws {
    var bytes: [UInt8] = []
    for event in events {
      add(event, to: &bytes)
      guard bytes.count >= Self.pieceSize else { continue }
      try await writer.write(bytes)
      bytes = []
    }
    try await writer.write(bytes)
  }

  private func add(_ event: AuditedEvent, to bytes: inout [UInt8]) {
    if format == .csv {
      let keyName = isForOperator ? event.keyName : nil
      HistoryCSV.write(event.event, keyName: keyName, into: &bytes)
    } else {
      event.event.writeHistoryEntry(
        for: isForOperator ? .operator(keyName: event.keyName) : .user,
        into: &bytes
      )
      bytes.append(0x0A)
    }
  }
}
