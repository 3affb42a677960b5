import Postgres

/// Tells what makes a projection stop from what passes.
enum StopReason {
  /// Classes of SQLSTATE that say nothing about the event: connections, read-only servers,
  /// conflicts, a full disk, locks, an operator's hand, the system.
  private static let passing = ["08", "25", "40", "53", "55", "57", "58"]
  private static let lengthLimit = 500

  /// Why the projection has to stop, without a person's data; nil where another try may go well.
  static func of(_ error: any Error) -> String? {
    switch error {
    case let failure as BlockingConnection.Failure:
      guard !failure.isConnectionLost, let state = failure.sqlState else { return nil }
      if passing.contains(String(state.prefix(2))) { return nil }
      return String(failure.safeDescription.prefix(lengthLimit))
    case let hole as LogStretch.Hole:
      return "the log has a hole: no event at position \(hole.missing)"
    case ProjectionError.unreadable(_, let reason):
      // The position stands beside it.
      return String(reason.prefix(lengthLimit))
    case ProjectionError.locked: return nil
    case let error as ProjectionError:
      return String(error.description.prefix(lengthLimit))
    default:
      // Its words may be a person's.
      return "\(type(of: error))"
    }
  }
}
