public import Keys
public import Postgres

extension WrappedKey {
  /// A column with the wrapped key of the user whose id `user` names: the master key's number in
  /// four bytes, then the key; null where there is none.
  public static func column(of user: String) -> String {
    """
    (select int4send(k.master_key) || k.wrapped_key from user_keys k where k.user_id = \(user))
    """
  }

  /// The same for the events of many users: a column of what `join` gives.
  static let joinedColumn = "wrapped"

  /// Joined to `events`, the keys of their users, so that none is looked for by itself.
  static let join = """
    left join (select user_id as key_user, int4send(master_key) || wrapped_key as wrapped
                 from user_keys) keys on key_user = user_id
    """

  /// Of the users' keys, how many are wrapped by a master key that is none of `known`, by its number.
  ///
  /// Reads the whole table.
  public static func lacking(
    _ known: [Int32],
    _ connection: borrowing BlockingConnection
  ) throws -> [(masterKey: Int32, users: Int64)] {
    var parameters = Parameters()
    parameters.add(array: known) { $0 }
    let rows = try connection.query(
      """
      select master_key, count(*) from user_keys
       where master_key <> all ($1::integer[]) group by master_key order by master_key
      """,
      parameters
    )
    return (0..<rows.count).map { (rows.integer($0, 0), rows.integer($0, 1)) }
  }

  /// The key in such a column; nil where there is none.
  public init?(_ rows: Rows, _ row: Int, _ column: Int) {
    let bytes = rows.bytes(row, column)
    guard bytes.count > 4 else { return nil }
    self.init(
      masterKey: Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)),
      bytes: Array(bytes[4...])
    )
  }
}
