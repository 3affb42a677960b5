import EventLog

/// How events are written one after the other.
enum FeedFormat {
  /// Server-sent events (`text/event-stream`, WHATWG HTML section 9.2).
  case serverSentEvents
  /// One JSON text on each line (`application/x-ndjson`).
  case lines

  /// The media types, the one that is given without a wish first.
  static let mediaTypes = ["application/x-ndjson", "text/event-stream"]

  /// Milliseconds after which a client is to come back that lost its connection.
  private static let retry = 2000

  var mediaType: StaticString {
    switch self {
    case .serverSentEvents: "text/event-stream"
    case .lines: "application/x-ndjson"
    }
  }

  /// What comes before the first event.
  var preamble: [UInt8] {
    switch self {
    case .serverSentEvents: Array("retry: \(Self.retry)\n\n".utf8)
    case .lines: []
    }
  }

  /// What is sent where nothing happens, so that both sides know of each other.
  var heartbeat: [UInt8] {
    switch self {
    case .serverSentEvents: Array(":\n\n".utf8)
    case .lines: [10]
    }
  }

  func write(_ event: CloudEvent, into text: inout [UInt8]) {
    switch self {
    case .serverSentEvents:
      text += "id: ".utf8
      text += event.event.position.description.utf8
      text += "\nevent: ".utf8
      text += event.type.utf8
      text += "\ndata: ".utf8
      event.write(into: &text)
      text += "\n\n".utf8
    case .lines:
      event.write(into: &text)
      text.append(10)
    }
  }
}
