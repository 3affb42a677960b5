import Profiles

/// What a path names, and what can be done there.
enum Resource {
  case users
  case me
  case user(UserID)
  case password
  case history
  case sessions
  case session(String)
  case events
  case livez
  case readyz

  init?(path: Substring) {
    switch path {
    case "/v1/users/me": self = .me
    case "/v1/users": self = .users
    case "/v1/users/me/password": self = .password
    case "/v1/users/me/history": self = .history
    case "/v1/sessions": self = .sessions
    case "/v1/events": self = .events
    case "/livez": self = .livez
    case "/readyz": self = .readyz
    default:
      if let id = Self.id(in: path, under: "/v1/sessions/") {
        self = .session(id)
      } else if let id = Self.id(in: path, under: "/v1/users/").flatMap({ UserID($0) }) {
        self = .user(id)
      } else {
        return nil
      }
    }
  }

  private static func id(in path: Substring, under prefix: String) -> String? {
    guard path.hasPrefix(prefix) else { return nil }
    let id = path.dropFirst(prefix.count)
    return id.isEmpty || id.contains("/") ? nil : String(id)
  }

  /// The methods with an answer of their own; HEAD goes with GET, OPTIONS everywhere.
  var methods: [String] {
    switch self {
    case .users, .password: ["POST"]
    case .me: ["GET", "PATCH"]
    case .user, .history, .events, .livez, .readyz: ["GET"]
    case .sessions: ["GET", "POST", "DELETE"]
    case .session: ["DELETE"]
    }
  }

  /// The value of `Allow`.
  var allow: String {
    let methods = methods
    return (methods + (methods.contains("GET") ? ["HEAD"] : []) + ["OPTIONS"])
      .joined(separator: ", ")
  }
}
