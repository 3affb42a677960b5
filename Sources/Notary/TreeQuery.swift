import EventLog
public import MerkleTree
public import Postgres
public import Profiles
public import Sodium

/// What readers ask of the tree's tables.
public enum TreeQuery {
  /// The statements to be prepared on connections that read the tree.
  public static let statements = [tile, tiles, checkpoint, verifierKeys, entry]

  /// A checkpoint as it is stored.
  public struct StoredCheckpoint: Sendable {
    /// The number of the key that has signed it.
    public let origin: Int32
    /// The events it speaks for.
    public let size: Int64
    /// The root, as the column has it; nil where that is no hash.
    public let root: TreeHash?
    /// The signed note.
    public let note: String
  }

  /// The public keys of the log, the one in use first; no row before the first one.
  public static let verifierKeys = Statement(
    "tree_verifier_keys",
    "select verifier_key from log_origins order by origin desc"
  )

  /// The last checkpoint under the key in use; no row before the first one.
  public static let checkpoint = Statement(
    "tree_checkpoint",
    """
    select origin, size, root, note from checkpoints
     where origin = (select max(origin) from log_origins)
     order by size desc limit 1
    """
  )

  /// What `checkpoint` found; nil where there is none.
  public static func checkpoint(_ rows: Rows) -> StoredCheckpoint? {
    guard rows.count == 1 else { return nil }
    return StoredCheckpoint(
      origin: rows.integer(0, 0),
      size: rows.integer(0, 1),
      root: TreeHash(rows.bytes(0, 2)),
      note: rows.string(0, 3) ?? ""
    )
  }

  /// The hashes of a tile, whether it is full or of the edge; no row where there is none.
  public static let tile = Statement(
    "tree_tile",
    """
    select hashes from tree_tiles where level = $1::smallint and index = $2::bigint
    union all
    select hashes from tree_edge, notary
     where level = $1::smallint and size >> (8 * ($1::integer + 1)) = $2::bigint
       and hashes <> ''
    """
  )

  /// The highest level whose tiles are looked for: the next one needs more than 2^56 leaves, and
  /// shifts of a `bigint` end at 63.
  public static let highestLevel = 6

  /// The values of `tile`; nil where there can be no such tile.
  public static func tileParameters(_ tile: TileID) -> Parameters? {
    guard tile.level <= highestLevel else { return nil }
    var parameters = Parameters()
    parameters.add(Int16(tile.level))
    parameters.add(tile.index)
    return parameters
  }

  /// Several tiles at once, full or of the edge.
  public static let tiles = Statement(
    "tree_tiles",
    """
    select t.level, t.index, t.hashes
      from unnest($1::smallint[], $2::bigint[]) as w (level, index)
      join tree_tiles t on t.level = w.level and t.index = w.index
    union all
    select e.level, n.size >> (8 * (e.level + 1)), e.hashes
      from tree_edge e, notary n
     where e.level = any ($1::smallint[])
    """
  )

  /// The values of `tiles`.
  public static func tilesParameters(_ tiles: Set<TileID>) -> Parameters {
    let tiles = tiles.filter { $0.level <= highestLevel }
    var parameters = Parameters()
    parameters.add(array: tiles) { Int16($0.level) }
    parameters.add(array: tiles) { $0.index }
    return parameters
  }

  /// What `tiles` found.
  public static func tiles(_ rows: Rows) -> TileSet {
    var tiles = TileSet()
    for row in 0..<rows.count {
      let level: Int16 = rows.integer(row, 0)
      let tile = TileID(level: Int(level), index: rows.integer(row, 1))
      tiles[tile] = [TreeHash](rows.bytes(row, 2))
    }
    return tiles
  }

  /// The entry of an event by user, stream and version; no row where there is none.
  public static let entry = Statement(
    "tree_entry",
    """
    select \(LogEntry.columns) from events
     where user_id = $1::uuid and stream = $2::smallint and version = $3::integer
    """
  )

  /// The values of `entry`.
  public static func entryParameters(
    _ user: UserID,
    _ stream: Event.Stream,
    _ version: Version
  ) -> Parameters {
    var parameters = Parameters()
    parameters.add(user)
    parameters.add(stream.rawValue)
    parameters.add(version.rawValue)
    return parameters
  }
}
