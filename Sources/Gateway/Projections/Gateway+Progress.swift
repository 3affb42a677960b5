import EventLoop
import HTTP
import JSON
import Projections

extension Gateway {
  /// The pause between two looks at a rebuild's progress.
  private static let progressInterval = Duration.seconds(1)

  /// Streams the progress of a rebuild as server-sent events: `progress` once a second, then `end`
  /// with the rebuild as it has become, when it ends or waits for its operator.
  func follow(_ id: RebuildID, of name: String) async throws(Problem) -> Response {
    let first = try await rebuild(id, of: name)
    let loop = loop
    var response = Response(status: 200, contentType: "text/event-stream") { [self] writer in
      var now = first
      while !writer.isDraining, now.isAtWork {
        try await writer.write(Self.event("progress", now.progress.json))
        await loop.sleep(for: Self.progressInterval)
        now = try await rebuild(id, of: name)
      }
      try await writer.write(Self.event("end", now.json))
    }
    response.add("Cache-Control", "no-store")
    return response
  }

  private static func event(_ name: String, _ data: JSON) -> [UInt8] {
    Array("event: \(name)\ndata: ".utf8) + data.bytes + Array("\n\n".utf8)
  }
}

extension RebuildRecord {
  /// Whether it goes on by itself.
  fileprivate var isAtWork: Bool {
    isOpen && state != .failed && state != .differs && (isHeld || isInService && wanted == "run")
  }
}

extension Request {
  /// Whether the client asks for server-sent events.
  var acceptsEventStream: Bool {
    headers("Accept").contains { line in
      line.split(separator: ",").contains { MediaType(String($0)).essence == "text/event-stream" }
    }
  }
}
