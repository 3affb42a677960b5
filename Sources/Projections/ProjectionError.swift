public import EventLog

/// Why a projection can't be folded, rebuilt or verified.
public enum ProjectionError: Error, CustomStringConvertible {
  /// The event at `position` makes no sense: the projection stops there, and skips nothing.
  case unreadable(position: Position, reason: String)
  /// The event at `position` can't be read for want of a master key: it can as soon as that is there.
  case locked(position: Position, reason: String)
  /// A row of the projection's own table makes no sense: rebuild it.
  case unreadableRow(table: String, reason: String)
  /// Another process rebuilds the same projection.
  case busy(String)
  /// The new table can't be right: what is wrong with it. It is not used.
  case incomplete(String)
  /// What is asked for can't be done as things stand.
  case impossible(String)

  /// No log has this position, which stands in the tables.
  static func impossiblePosition(_ position: Position) -> ProjectionError {
    .incomplete("position \(position) is none that a log can have")
  }

  /// For the operator.
  public var description: String {
    switch self {
    case .unreadable(let position, let reason), .locked(let position, let reason):
      "the event at position \(position): \(reason)"
    case .unreadableRow(let table, let reason): "a row of \(table): \(reason)"
    case .busy(let name): "another rebuild of \(name) is under way"
    case .incomplete(let reason), .impossible(let reason): reason
    }
  }

  /// The event that can't be read, and why; nil where it is none.
  public var event: (position: Position, reason: String)? {
    switch self {
    case .unreadable(let position, let reason), .locked(let position, let reason):
      (position, reason)
    default: nil
    }
  }
}

extension Position {
  /// The position, if a log can have it.
  var checked: Position {
    get throws(ProjectionError) {
      guard isPossible else { throw .impossiblePosition(self) }
      return self
    }
  }
}
