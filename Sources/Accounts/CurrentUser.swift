public import Clocks
import EventLog
import Keys
import Postgres
public import Profiles

/// A user as the read model holds them.
public struct CurrentUser: Sendable {
  /// Whose profile it is.
  public let id: UserID
  /// The version of the profile, which is its ETag.
  public let version: Version
  /// The version of the access stream.
  public let accessVersion: Version
  /// The ready-made answer but for version and times, open at its end.
  public let document: [UInt8]
  /// When the user registered; nil in an answer made before the commit that tells the time.
  public let createdAt: Timestamp?
  /// When the profile last changed; nil in an answer made before the commit that tells the time.
  public let updatedAt: Timestamp?
  /// The key that seals what happens to them, wrapped; nil where it was not read.
  let key: WrappedKey?

  init(
    id: UserID,
    version: Version,
    accessVersion: Version,
    document: [UInt8],
    createdAt: Timestamp?,
    updatedAt: Timestamp?,
    key: WrappedKey?
  ) {
    self.id = id
    self.version = version
    self.accessVersion = accessVersion
    self.document = document
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.key = key
  }

  /// The user once the event that makes it is in the log.
  func committed(_ appended: Appended) -> CurrentUser {
    CurrentUser(
      id: id,
      version: appended.version,
      accessVersion: accessVersion,
      document: document,
      createdAt: createdAt ?? appended.recordedAt,
      updatedAt: appended.recordedAt,
      key: key
    )
  }

  /// The columns that `init(_:_:from:)` reads, in its order.
  static let columns = columns(key: WrappedKey.column(of: "u.user_id"))
  /// The same without the key, for those who write nothing.
  static let fetchColumns = columns(key: "null::bytea")

  private static func columns(key: String) -> String {
    """
    u.user_id, u.version, u.access_version, u.document, u.created_at, u.updated_at, \(key)
    """
  }

  /// The user in row `row`, whose columns begin at `first`.
  init(_ rows: Rows, _ row: Int, from first: Int) {
    id = rows.identifier(row, first)
    version = Version(rows.integer(row, first + 1))
    accessVersion = Version(rows.integer(row, first + 2))
    document = Array(rows.bytes(row, first + 3))
    createdAt = rows.timestamp(row, first + 4)
    updatedAt = rows.timestamp(row, first + 5)
    key = WrappedKey(rows, row, first + 6)
  }

  /// What commands are decided on.
  func decidable() throws(AccountsError) -> User {
    do {
      return try User(document: document, version: version, accessVersion: accessVersion)
    } catch {
      throw .failed("the document of user \(id) can't be read: \(error.member ?? "no object")")
    }
  }
}
