import Accounts
import EventLog
import HTTP
import Profiles

extension Gateway {
  /// Answers `GET /v1/events`: the log as CloudEvents, from any position on.
  func feed(_ request: Request) async throws(Problem) -> Response {
    let query = try Query(request, known: ["after", "follow", "type", "user"])
    let format = try FeedFormat(request)
    let follows = try query.choice(
      "follow",
      [("true", true), ("false", false)],
      standard: format == .serverSentEvents
    )
    let selection = try LogPage.Selection(query)
    let key = try await self.operator(request, scope: .eventsRead).id
    let head: Position
    do {
      head = try await accounts.head()
    } catch {
      throw Problem(error)
    }
    let start = try start(request, query, head)
    guard let place = feedPlaces.take() else { throw .tooManyFeeds }
    let feed = Feed(
      accounts: accounts,
      loop: loop,
      tail: shared.tail,
      key: key,
      selection: selection,
      format: format,
      start: start,
      last: follows ? nil : head
    )
    var response = Response(status: 200, contentType: format.mediaType) { writer in
      try await feed.run(writer)
      withExtendedLifetime(place) {}
    }
    response.add("Cache-Control", "no-store")
    // What stands between passes each event on at once.
    response.add("X-Accel-Buffering", "no")
    return response
  }

  /// The position that the feed begins after; where a client comes back, its header counts.
  private func start(
    _ request: Request,
    _ query: Query,
    _ head: Position
  ) throws(Problem) -> Position {
    if let text = request.header("Last-Event-ID"), !text.isEmpty {
      return try position(text, "The header 'Last-Event-ID'", head)
    }
    return switch query["after"] {
    case nil: .start
    case "head"?: head
    case let text?: try position(text, "The query parameter 'after'", head)
    }
  }

  private func position(
    _ text: String,
    _ name: String,
    _ head: Position
  ) throws(Problem) -> Position {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(text), number <= head.rawValue
    else {
      throw .malformedRequest("\(name) is a position of the log, from 0 to \(head) now.")
    }
    return Position(number)
  }
}

extension FeedFormat {
  /// The form that the request asks for.
  fileprivate init(_ request: Request) throws(Problem) {
    switch Accept(request).best(of: Self.mediaTypes) {
    case "application/x-ndjson": self = .lines
    case "text/event-stream": self = .serverSentEvents
    default: throw .notAcceptable(Self.mediaTypes)
    }
  }
}

extension LogPage.Selection {
  /// What `type` and `user` ask for.
  fileprivate init(_ query: Query) throws(Problem) {
    self.init()
    if let text = query["type"] {
      let names = text.split(separator: ",", omittingEmptySubsequences: false).map { name in
        name.hasPrefix(CloudEvent.typePrefix)
          ? String(name.dropFirst(CloudEvent.typePrefix.count)) : String(name)
      }
      guard names.allSatisfy({ Event.Kind(rawValue: $0) != nil }) else {
        throw .malformedRequest(
          "The query parameter 'type' is one or more, with commas between them, of "
            + Event.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        )
      }
      types = names
    }
    if let text = query["user"] {
      guard let id = UserID(text) else {
        throw .malformedRequest("The query parameter 'user' is a user's id.")
      }
      user = id
    }
  }
}

extension Problem {
  /// The client takes none of the media types that there are.
  static func notAcceptable(_ types: [String]) -> Problem {
    Problem(
      406,
      "not-acceptable",
      "There is no form of this that the client takes.",
      detail: "Accept \(types.joined(separator: " or "))."
    )
  }

  fileprivate static var tooManyFeeds: Problem {
    .unavailable("As many feeds are open as there can be.")
  }
}
