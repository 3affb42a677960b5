public import Postgres

/// A projection whose rows are stored column by column, the key in the first one.
///
/// It says which columns there are and how a row becomes values and is read back; from that follow
/// the statements that load, write and remove rows.
public protocol TableProjection: Projection where Key: Value {
  /// The columns of the table, the key first.
  static var storedColumns: [StoredColumn] { get }
  /// The key that a row is found by.
  static func key(of row: Row) -> Key
  /// Binds the values of `rows`, an array for each of the stored columns.
  static func parameters(of rows: [Row]) -> Parameters
  /// The row at `row` of what was read as `columns` from `table`.
  static func read(_ rows: Rows, _ row: Int, of table: String) throws(ProjectionError) -> Row
}

/// A column of a table, and how its values are sent.
public struct StoredColumn: Sendable {
  let name: String
  let type: String
  let sentAs: String

  /// A column of an SQL type; `sentAs` is another one that the server converts from, for types
  /// that have no array of values to send.
  public init(_ name: String, _ type: String, sentAs: String? = nil) {
    self.name = name
    self.type = type
    self.sentAs = sentAs ?? type
  }
}

extension TableProjection {
  /// The names of the stored columns.
  public static var columns: String { storedColumns.map(\.name).joined(separator: ", ") }

  /// The rows of `keys` in `table`; a key without a row is left out.
  public static func load(
    _ keys: [Key],
    from table: String,
    _ connection: borrowing BlockingConnection
  ) throws -> [Key: Row] {
    let key = storedColumns[0]
    var parameters = Parameters()
    parameters.add(array: keys) { $0 }
    let rows = try connection.query(
      "select \(columns) from \(table) where \(key.name) = any ($1::\(key.type)[])",
      parameters
    )
    var found: [Key: Row] = [:]
    found.reserveCapacity(rows.count)
    for index in 0..<rows.count {
      let row = try read(rows, index, of: table)
      found[Self.key(of: row)] = row
    }
    return found
  }

  /// Writes what `changes` says of each key, in the order of the keys: rows are locked in that
  /// order, wherever they are written.
  public static func write(
    _ changes: [Key: Row?],
    to table: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    let ordered = changes.sorted { $0.key < $1.key }
    let removed = ordered.filter { $0.value == nil }.map(\.key)
    if !removed.isEmpty { try remove(removed, from: table, connection) }
    let written = ordered.compactMap(\.value)
    if !written.isEmpty { try connection.query(upsert(into: table), parameters(of: written)) }
  }

  private static func remove(
    _ keys: [Key],
    from table: String,
    _ connection: borrowing BlockingConnection
  ) throws {
    let key = storedColumns[0]
    var parameters = Parameters()
    parameters.add(array: keys) { $0 }
    try connection.query(
      "delete from \(table) where \(key.name) = any ($1::\(key.type)[])",
      parameters
    )
  }

  private static func upsert(into table: String) -> String {
    let values = storedColumns.map {
      $0.sentAs == $0.type ? $0.name : "\($0.name)::\($0.type)"
    }
    let arrays = storedColumns.enumerated().map { "$\($0 + 1)::\($1.sentAs)[]" }
    let others = storedColumns.dropFirst().map { "\($0.name) = excluded.\($0.name)" }
    return """
      insert into \(table) (\(columns))
        select \(values.joined(separator: ", "))
          from unnest(\(arrays.joined(separator: ", "))) as e (\(columns))
        on conflict (\(storedColumns[0].name)) do update
          set \(others.joined(separator: ", "))
      """
  }
}
