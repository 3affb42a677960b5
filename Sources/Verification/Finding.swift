public import EventLog
public import MerkleTree
public import Profiles

/// Something in the database that is not as the log has it, or the log itself.
public struct Finding: Sendable, Equatable {
  /// What it is about.
  public enum Place: Hashable, Sendable {
    /// An event, or the lack of one.
    case position(Position)
    /// The tree as a whole.
    case tree
    /// A tile of the tree.
    case tile(TileID)
    /// What was signed of the tree of so many leaves.
    case checkpoint(Int64)
    /// The key that the log is signed with.
    case key
    /// How the log is sealed, as the table `sealing` says.
    case sealing
    /// A table or a function.
    case schema(String)
    /// What stands beside the log for a user.
    case user(UserID)
  }

  /// What it is about.
  public let place: Place
  /// What is wrong.
  public let problem: Problem

  /// Whether this is to be told before another one: positions come first, users last.
  static func isBefore(_ left: Finding, _ right: Finding) -> Bool {
    switch (left.place, right.place) {
    case (.position(let left), .position(let right)): left < right
    case (.tile(let left), .tile(let right)):
      (left.level, left.index) < (right.level, right.index)
    case (.checkpoint(let left), .checkpoint(let right)): left < right
    case (.user(let left), .user(let right)): left < right
    case (.schema(let left), .schema(let right)): left < right
    default: left.place.rank < right.place.rank
    }
  }
}

extension Finding.Place {
  fileprivate var rank: Int {
    switch self {
    case .position: 0
    case .tree: 1
    case .tile: 2
    case .checkpoint: 3
    case .key: 4
    case .sealing: 5
    case .schema: 6
    case .user: 7
    }
  }
}

extension Finding.Place: CustomStringConvertible {
  /// As reports name it.
  public var description: String {
    switch self {
    case .position(let position): "position \(position)"
    case .tree: "tree"
    case .tile(let tile): "tile \(TilePath(tile, width: TileID.fullWidth))"
    case .checkpoint(let size): "checkpoint of \(size) events"
    case .key: "key"
    case .sealing: "table sealing"
    case .schema(let name): name
    case .user(let user): "user \(user)"
    }
  }
}
