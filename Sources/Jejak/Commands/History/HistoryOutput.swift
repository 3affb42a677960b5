import EventLog
import JSON

/// Prints entries page by page, so that their number doesn't matter.
enum HistoryOutput {
  /// Entries that are read at a time.
  static let pageLength = 500

  /// Prints what `page` gives after one entry, until there is no more or `options` say enough.
  static func print(
    _ options: HistoryOptions,
    _ page: (_ after: AuditedEvent?, _ length: Int) throws -> [AuditedEvent]
  ) throws {
    if options.form == .csv { Output.write(HistoryCSV.header) }
    var last: AuditedEvent?
    var left = options.limit ?? .max
    while left > 0 {
      let wanted = min(pageLength, left)
      let events = try page(last, wanted)
      var bytes: [UInt8] = []
      for event in events { try add(event, options.form, to: &bytes) }
      Output.write(bytes)
      guard events.count == wanted else { return }
      last = events.last
      left -= wanted
    }
  }

  private static func add(
    _ found: AuditedEvent,
    _ form: HistoryOptions.Form,
    to bytes: inout [UInt8]
  ) throws {
    let entry = found.event.historyEntry(for: .operator(keyName: found.keyName))
    switch form {
    case .text: bytes += HistoryText.entry(try JSON.parse(entry)).utf8
    case .json:
      bytes += entry
      bytes.append(0x0A)
    case .csv: HistoryCSV.write(found.event, keyName: found.keyName, into: &bytes)
    }
  }
}
