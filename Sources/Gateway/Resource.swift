import Profiles

/// What a path names, and what can be done there.
enum Resource {
  case users
  case me
  case user(UserID)
  /// What differs between versions; nil: one's own.
  case difference(UserID?)
  /// The undoing of one version; nil: one's own.
  case revert(UserID?, Version)
  /// The proof of one version; nil: one's own.
  case proof(UserID?, Version)
  /// All that is held about a user; nil: oneself.
  case export(UserID?)
  case password
  case history
  case userHistory(UserID)
  case audit
  case sessions
  case session(String)
  case events
  case statistics
  case projections
  case projection(String, ProjectionResource)
  case tree(TreeResource)
  case livez
  case readyz

  init?(path: Substring) {
    switch path {
    case "/v1/users/me": self = .me
    case "/v1/users": self = .users
    case "/v1/users/me/password": self = .password
    case "/v1/users/me/history": self = .history
    case "/v1/audit": self = .audit
    case "/v1/sessions": self = .sessions
    case "/v1/events": self = .events
    case "/v1/statistics": self = .statistics
    case "/v1/projections": self = .projections
    case "/livez": self = .livez
    case "/readyz": self = .readyz
    default:
      if let id = Self.id(in: path, under: "/v1/sessions/") {
        self = .session(id)
      } else if let id = Self.id(in: path, under: "/v1/users/").flatMap({ UserID($0) }) {
        self = .user(id)
      } else if let resource = Self.ofUser(path) {
        self = resource
      } else if let resource = TreeResource(path: path) {
        self = .tree(resource)
      } else if let (name, resource) = ProjectionResource.find(path) {
        self = .projection(name, resource)
      } else {
        return nil
      }
    }
  }

  /// What lies below `/v1/users/me/` and `/v1/users/{id}/` alike.
  private static func ofUser(_ path: Substring) -> Resource? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 4, parts[0].isEmpty, parts[1] == "v1", parts[2] == "users" else {
      return nil
    }
    let id = UserID(String(parts[3]))
    guard id != nil || parts[3] == "me" else { return nil }
    if parts.count == 5, parts[4] == "diff" { return .difference(id) }
    if parts.count == 5, parts[4] == "export" { return .export(id) }
    if parts.count == 5, parts[4] == "history" { return id.map { .userHistory($0) } }
    guard parts.count == 7, parts[4] == "history", let version = Version(digits: parts[5]) else {
      return nil
    }
    switch parts[6] {
    case "revert": return .revert(id, version)
    case "proof": return .proof(id, version)
    default: return nil
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
    case .users: ["GET", "POST"]
    case .password, .revert: ["POST"]
    case .me: ["GET", "PATCH", "DELETE"]
    case .user: ["GET", "DELETE"]
    case .difference, .proof, .export, .history, .userHistory, .audit, .events, .statistics,
      .projections, .tree, .livez, .readyz:
      ["GET"]
    case .sessions: ["GET", "POST", "DELETE"]
    case .session: ["DELETE"]
    case .projection(_, let resource): resource.methods
    }
  }

  /// The value of `Allow`.
  var allow: String {
    let methods = methods
    return (methods + (methods.contains("GET") ? ["HEAD"] : []) + ["OPTIONS"])
      .joined(separator: ", ")
  }
}
