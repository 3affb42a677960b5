public import Postgres

/// Reads the record of one rebuild by a connection that is somebody else's.
public enum RebuildLookup {
  /// Finds the rebuild whose name is its parameter.
  public static let statement = Statement(
    "find_rebuild",
    "select \(RebuildRecord.columns) from rebuilds where rebuild_id = $1::uuid"
  )

  /// The parameters for the rebuild `id`.
  public static func parameters(_ id: RebuildID) -> Parameters {
    var parameters = Parameters()
    parameters.add(id)
    return parameters
  }

  /// What the statement found; nil where there is no such rebuild.
  public static func read(_ rows: Rows) -> RebuildRecord? {
    rows.count == 1 ? RebuildRecord(rows, 0) : nil
  }
}
