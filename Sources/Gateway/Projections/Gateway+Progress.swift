import Accounts
import Clocks
import EventLoop
import HTTP
import JSON
import Profiles
import Projections

extension Gateway {
  /// The pause between two looks at a rebuild's progress.
  private static let progressInterval = Duration.seconds(1)

  /// Open streams of progress of one loop at a time.
  static let progressLimit = 16

  /// Streams the progress of a rebuild as server-sent events: `progress` once a second, then `end`
  /// with the rebuild as it has become, when it ends or waits for its operator.
  ///
  /// The stream ends without that when `key` can't be used any more.
  func follow(
    _ id: RebuildID,
    of name: String,
    for key: KeyID
  ) async throws(Problem) -> Response {
    let first = try await rebuild(id, of: name)
    guard let place = progressPlaces.take() else {
      throw .unavailable("As many streams of progress are open as there can be.")
    }
    var response = Response(status: 200, contentType: "text/event-stream") { [self] writer in
      try await writeProgress(of: first, for: key, writer)
      withExtendedLifetime(place) {}
    }
    response.add("Cache-Control", "no-store")
    return response
  }

  private func writeProgress(
    of first: RebuildRecord,
    for key: KeyID,
    _ writer: BodyWriter
  ) async throws {
    var now = first
    var lastCheck = Instant.now()
    while !writer.isDraining, now.isAtWork {
      try await writer.write(Self.event("progress", now.progress.json))
      await loop.sleep(for: Self.progressInterval)
      do {
        if Instant.now() - lastCheck >= Feed.keyCheckInterval {
          guard try await accounts.isStillValid(key) else { return }
          lastCheck = Instant.now()
        }
        guard let found = try await accounts.rebuild(first.id) else { return }
        now = found
      } catch AccountsError.unavailable, AccountsError.overloaded {
        // The next second shows more.
      }
    }
    try await writer.write(Self.event("end", now.json))
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
