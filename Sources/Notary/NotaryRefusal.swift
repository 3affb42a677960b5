/// Why the notary doesn't sign: signing would contradict what it has signed before, or it can't
/// tell that it wouldn't.
public enum NotaryRefusal: Error, Equatable, Sendable {
  /// The log ends before the tree: events are gone.
  case logIsShorter(head: Int64, size: Int64)
  /// The log lacks the event at a position.
  case hole(position: Int64)
  /// An event is not the one that the tree has at its position.
  case eventDiffers(position: Int64)
  /// An event has a value that no event can have.
  case eventIsImpossible(position: Int64)
  /// Tiles and edge don't belong together, or one is missing.
  case treeIsDamaged
  /// A table has not the one row that it is there for.
  case rowIsMissing(table: String)
  /// The last checkpoint of the database is not signed by the key, or says other things than its
  /// columns.
  case checkpointIsInvalid(size: Int64)
  /// The tree is not the one that the last checkpoint of the database speaks of.
  case treeDiffers(size: Int64)
  /// The checkpoint that is kept outside is ahead of the log: the tail of the log was lost.
  case checkpointFileIsAhead(size: Int64, head: Int64)
  /// The tree is not the one that the checkpoint kept outside speaks of.
  case checkpointFileDiffers(size: Int64)
  /// The file of the checkpoint that is kept outside has something else in it.
  case checkpointFileIsInvalid(path: String)
  /// That file can't be read or written.
  case checkpointFileIsUnusable(path: String, reason: String)
  /// The log is signed with another key than the one of the key file.
  case keyDiffers(origin: String, file: String)

  /// The reason as a word, for programs.
  public var code: String {
    switch self {
    case .logIsShorter: "log-shorter-than-tree"
    case .hole: "hole-in-log"
    case .eventDiffers: "event-differs"
    case .eventIsImpossible: "event-impossible"
    case .treeIsDamaged: "tree-damaged"
    case .rowIsMissing: "row-missing"
    case .checkpointIsInvalid: "checkpoint-invalid"
    case .treeDiffers: "tree-differs-from-checkpoint"
    case .checkpointFileIsAhead: "checkpoint-file-ahead"
    case .checkpointFileDiffers: "checkpoint-file-differs"
    case .checkpointFileIsInvalid: "checkpoint-file-invalid"
    case .checkpointFileIsUnusable: "checkpoint-file-unusable"
    case .keyDiffers: "key-differs"
    }
  }
}

extension NotaryRefusal: CustomStringConvertible {
  /// For the operator, in a sentence.
  public var description: String {
    switch self {
    case .logIsShorter(let head, let size):
      "the log ends at position \(head), but its tree has \(size) events: its tail was lost"
    case .hole(let position):
      "the log lacks the event at position \(position)"
    case .eventDiffers(let position):
      "the event at position \(position) is not the one that the tree has there"
    case .eventIsImpossible(let position):
      "the event at position \(position) has a value that no event can have"
    case .treeIsDamaged:
      "the tree's tiles and its edge don't belong together"
    case .rowIsMissing(let table):
      "the table \(table) has lost its row"
    case .checkpointIsInvalid(let size):
      "the checkpoint of size \(size) in the database is not one that this log's key has signed"
    case .treeDiffers(let size):
      "the tree differs from what was signed at size \(size)"
    case .checkpointFileIsAhead(let size, let head):
      "the log ends at position \(head), but a checkpoint of size \(size) was signed: "
        + "the log's tail was lost"
    case .checkpointFileDiffers(let size):
      "the tree differs from what was signed at size \(size), as the checkpoint file has it"
    case .checkpointFileIsInvalid(let path):
      "\(path) is no checkpoint that this log's key has signed"
    case .checkpointFileIsUnusable(let path, let reason):
      "\(path): \(reason)"
    case .keyDiffers(let origin, let file):
      "the log is signed by the key of \(origin), and the key file has that of \(file)"
    }
  }
}

/// How the notary fares.
public enum NotaryState: Equatable, Sendable {
  /// It signs what is appended.
  case signs
  /// It waits until every payload of the log is sealed.
  case waitsForSealing
  /// It signs nothing, and tries again by itself.
  case refuses(NotaryRefusal)
}
