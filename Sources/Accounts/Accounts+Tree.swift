public import EventLog
public import MerkleTree
public import Notary
import Postgres
public import Profiles

extension Accounts {
  /// What becomes of asking for the proof of an event.
  public enum FoundProof: Sendable {
    /// It is there.
    case proof(TreeProof)
    /// The event is at this position, and no checkpoint speaks for it yet.
    case notSignedYet(Position)
    /// The log or its tree was damaged: they don't give the root that was signed.
    case damaged(Position)
  }

  /// The last checkpoint that was signed; nil before the first.
  public func checkpoint() async throws(AccountsError) -> TreeQuery.StoredCheckpoint? {
    TreeQuery.checkpoint(try await read(TreeQuery.checkpoint, Parameters()))
  }

  /// The public keys of the log, in the form name+id+key, the one in use first and the former ones
  /// behind it; none before the first signature.
  public func verifierKeys() async throws(AccountsError) -> [String] {
    let rows = try await read(TreeQuery.verifierKeys, Parameters())
    return (0..<rows.count).compactMap { rows.string($0, 0) }
  }

  /// The hashes of a tile, as many as there are; nil where the tree has no such tile.
  public func tile(_ tile: TileID) async throws(AccountsError) -> [UInt8]? {
    guard let parameters = TreeQuery.tileParameters(tile) else { return nil }
    let rows = try await read(TreeQuery.tile, parameters)
    return rows.count == 1 ? Array(rows.bytes(0, 0)) : nil
  }

  /// The proof that an event is in the log, with its entry, and the details behind it, as extra data.
  public func proof(
    of user: UserID,
    _ stream: Event.Stream,
    _ version: Version
  ) async throws(AccountsError) -> FoundProof {
    let rows = try await read(TreeQuery.entry, TreeQuery.entryParameters(user, stream, version))
    guard rows.count == 1 else { throw .noSuchVersion }
    let position = Position(rows.integer(0, 0))
    let details = LogDetails(rows, 0)
    guard let entry = LogEntry(rows, 0), entry.details == details.digest else {
      return .damaged(position)
    }
    guard let stored = try await checkpoint(), stored.size > entry.index else {
      return .notSignedYet(position)
    }
    let needed = InclusionProof.neededTiles(index: entry.index, size: stored.size)
    let tiles = try await read(TreeQuery.tiles, TreeQuery.tilesParameters(needed))
    // Seen before it is given: nobody is to be told that a proof of ours is false.
    guard let root = stored.root, let note = SignedNote(Array(stored.note.utf8)),
      let inclusion = InclusionProof(
        index: entry.index,
        size: stored.size,
        tiles: TreeQuery.tiles(tiles)
      ), inclusion.verifies(leaf: entry.leaf, root: root)
    else { return .damaged(position) }
    return .proof(
      TreeProof(
        extra: entry.bytes + details.bytes,
        index: entry.index,
        hashes: inclusion.hashes,
        checkpoint: note
      )
    )
  }
}
