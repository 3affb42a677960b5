/// Every projection there is; runner, rebuilds and commands go through them.
public enum ReadModels {
  /// The inline one first, then the followers.
  public static let all: [any Projection.Type] = [CurrentUsers.self] + followers

  /// Those that the runner keeps up to date, by name.
  public static let followers: [any Projection.Type] = [
    AuditEntries.self, Directory.self, Statistics.self,
  ]

  /// The one of this name.
  public static func named(_ name: String) -> (any Projection.Type)? {
    all.first { $0.name == name }
  }
}
