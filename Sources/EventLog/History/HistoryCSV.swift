import Clocks
import CSV
import JSON
import Profiles

/// Histories as CSV: a line for each field that changed, or one for an event that changed none.
public enum HistoryCSV {
  private static let columns = [
    "position", "recordedAt", "user", "stream", "version", "type", "actorKind", "actorId",
    "actorName", "address", "agent", "session", "requestId", "traceId", "field", "old", "new",
    "aboutSession", "count", "kept", "reverts", "erased", "unreadable",
  ]

  /// The line with the names of the columns.
  public static let header: [UInt8] = {
    var bytes: [UInt8] = []
    CSVLine(columns).write(into: &bytes)
    return bytes
  }()

  /// Appends the lines of `event`, which an operator with a key called `keyName` may have caused.
  ///
  /// Texts stand there as they are, other values as JSON, null as an empty cell. Of a field whose
  /// values are not in the log, such as a password, there is the name alone, and so there is of all
  /// fields of a user who has been erased.
  public static func write(_ event: RecordedEvent, keyName: String?, into output: inout [UInt8]) {
    // An event whose payload is gone or can't be read still has its header.
    let payload = (try? JSON.parse(event.payload))?.object
    let source = payload?["source"]?.object
    var changes: [(field: String, old: JSON, new: JSON)] = []
    for change in payload?["changes"]?.array ?? [] {
      guard let change = change.object, let field = change["field"]?.string else { continue }
      changes.append((field, change["old"] ?? .null, change["new"] ?? .null))
    }
    let told = Set(changes.map(\.field))
    changes += event.changed.filter { !told.contains($0) }.map { ($0, .null, .null) }

    var start = CSVLine()
    start.addAsIs(event.position.description)
    start.addAsIs(event.recordedAt.description)
    start.addAsIs(event.user.description)
    start.addAsIs(Event.Stream(rawValue: event.stream)?.name ?? event.stream.description)
    start.addAsIs(event.version.description)
    start.add(event.type)
    start.addAsIs(event.actor.kindName)
    start.addAsIs(event.actor.id?.description ?? "")
    start.add(keyName)
    for name in ["address", "agent", "session"] { start.add(source?[name]) }
    start.add(event.requestID)
    start.add(event.traceID)
    func finish(_ line: CSVLine) {
      var line = line
      for name in ["session", "count", "kept", "reverts"] { line.add(payload?[name]) }
      line.addAsIs(event.isErased ? "true" : "")
      line.add(event.unreadable)
      line.write(into: &output)
    }
    for change in changes {
      var line = start
      line.add(change.field)
      line.add(change.old)
      line.add(change.new)
      finish(line)
    }
    if changes.isEmpty {
      var line = start
      for _ in 0..<3 { line.add(nil as String?) }
      finish(line)
    }
  }
}

extension CSVLine {
  /// Adds a text as it is, null as an empty cell, and any other value as JSON.
  fileprivate mutating func add(_ value: JSON?) {
    switch value {
    case nil, .null: addAsIs("")
    case .string(let text): add(text)
    case .integer(let number): addAsIs(number.description)
    case .real, .bool: addAsIs(String(decoding: value?.bytes ?? [], as: UTF8.self))
    case .array, .object: add(String(decoding: value?.bytes ?? [], as: UTF8.self))
    }
  }
}
