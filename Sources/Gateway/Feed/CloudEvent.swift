import Clocks
import EventLog
import JSON
import Profiles

/// An event of the log as a CloudEvent 1.0 in its JSON format.
struct CloudEvent {
  /// What the type of every event begins with.
  static let typePrefix = "jejak."
  /// The `source`: the feed itself, relative to the service.
  static let source = "/v1/events"

  let id: EventID
  let event: RecordedEvent

  var type: String { Self.typePrefix + event.type }

  /// Appends the JSON text, on one line.
  func write(into text: inout [UInt8]) {
    let start = text.count
    text += "{\"specversion\":\"1.0\",\"id\":\"".utf8
    text += id.description.utf8
    text += "\",\"source\":\"".utf8
    text += Self.source.utf8
    text += "\",\"type\":".utf8
    JSON.write(type, into: &text)
    text += ",\"subject\":\"".utf8
    text += event.user.description.utf8
    text += "\",\"time\":\"".utf8
    event.recordedAt.write(into: &text)
    text += "\",\"datacontenttype\":\"application/json\",\"sequence\":\"".utf8
    text += event.position.description.utf8
    text += "\",\"data\":".utf8
    event.writeHistoryEntry(into: &text)
    text += "}".utf8
    // A line break can only be white space between tokens here; in both forms it would end the
    // event.
    for index in start..<text.count where text[index] == 10 || text[index] == 13 {
      text[index] = UInt8(ascii: " ")
    }
  }
}
