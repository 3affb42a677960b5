public import EventLog
public import JSON
public import MerkleTree
import Profiles

/// What a verification has found.
public struct VerificationReport: Sendable {
  /// The last event that was looked at.
  public let position: Position
  /// Events that the tree has.
  public let treeSize: Int64
  /// The public key that the log is signed with; nil where it is not signed.
  public let key: NoteVerifier?
  /// Users that have events.
  public let users: Int64
  /// Whether the log was held against a checkpoint from outside the database.
  public let hasOutside: Bool
  /// How many things are wrong.
  public let findings: Int64
  /// The first of them, positions first; a hundred at most.
  public let first: [Finding]
  /// Those of the checkpoints that were kept outside the database.
  public let outside: [Finding]

  /// The report for programs.
  public var json: JSON {
    [
      "position": .integer(position.rawValue), "tree": .integer(treeSize),
      "key": key.map { .string($0.description) } ?? .null, "users": .integer(users),
      "outside": .bool(hasOutside), "findings": .integer(findings),
      "first": .array(first.map(\.json)),
    ]
  }

  /// The report for people: a line of all, and one for each finding that is named.
  public var text: String {
    let scope =
      "the log to position \(position), \(count(users, "user")), the tree of \(treeSize)"
    // Not a finding: nothing is known to be wrong.
    let note =
      hasOutside
      ? ""
      : "note: no checkpoint from outside the database was given, so whoever can write every table "
        + "could have made it all anew before the service signed it\n"
    guard findings > 0 else { return "\(scope): nothing is wrong\n\(note)" }
    let lines = first.map { "\($0.place): \($0.problem)\n" }.joined()
    let rest = findings - Int64(first.count)
    return "\(scope): \(count(findings, "finding"))\n" + lines
      + (rest > 0 ? "and \(rest) more\n" : "") + note
  }

  private func count(_ number: Int64, _ unit: String) -> String {
    "\(number) \(unit)\(number == 1 ? "" : "s")"
  }
}

extension Finding {
  /// The finding for programs.
  var json: JSON {
    let (key, value): (String, JSON) =
      switch place {
      case .position(let position): ("position", .integer(position.rawValue))
      case .tree: ("tree", .null)
      case .tile(let tile): ("tile", .string("\(TilePath(tile, width: TileID.fullWidth))"))
      case .checkpoint(let size): ("checkpoint", .integer(size))
      case .key: ("key", .null)
      case .sealing: ("sealing", .null)
      case .schema(let name): ("schema", .string(name))
      case .user(let user): ("user", .string(user.description))
      }
    return .object([
      key: value, "problem": .string(problem.code), "description": .string("\(problem)"),
    ])
  }
}
