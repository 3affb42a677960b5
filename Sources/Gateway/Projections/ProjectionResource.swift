import Profiles
import Projections

/// What a path below `/v1/projections/{name}` names.
enum ProjectionResource {
  case one
  case rebuilds
  case rebuild(RebuildID)
  case order(RebuildID, Order)
  case rollback
  case resume

  /// What may be asked of a rebuild.
  enum Order: String {
    case pause
    case resume
    case cancel
  }

  /// The name of the projection, and what of it the path names; nil where it is no such path.
  static func find(_ path: Substring) -> (String, ProjectionResource)? {
    let prefix = "/v1/projections/"
    guard path.hasPrefix(prefix) else { return nil }
    let parts = path.dropFirst(prefix.count)
      .split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard ReadModels.named(parts[0]) != nil,
      let resource = ProjectionResource(Array(parts.dropFirst()))
    else { return nil }
    return (parts[0], resource)
  }

  private init?(_ parts: [String]) {
    switch parts.count {
    case 0: self = .one
    case 1 where parts[0] == "rebuilds": self = .rebuilds
    case 1 where parts[0] == "rollback": self = .rollback
    case 1 where parts[0] == "resume": self = .resume
    case 2 where parts[0] == "rebuilds":
      guard let id = RebuildID(parts[1]) else { return nil }
      self = .rebuild(id)
    case 3 where parts[0] == "rebuilds":
      guard let id = RebuildID(parts[1]), let order = Order(rawValue: parts[2]) else {
        return nil
      }
      self = .order(id, order)
    default: return nil
    }
  }

  var methods: [String] {
    switch self {
    case .one, .rebuild: ["GET"]
    case .rebuilds: ["GET", "POST"]
    case .order, .rollback, .resume: ["POST"]
    }
  }
}
