public import Clocks
public import EventLog
import Postgres
public import Profiles

/// A row of `current_users`, as the events of its user add up to it.
///
/// `apply` is the projection's whole definition. An append writes what it says, row by row; a
/// rebuild folds it over the log; `verify` compares the two.
public struct CurrentUserRow: Sendable {
  /// The state that commands decide on.
  public private(set) var user: User
  /// When the user registered.
  public let createdAt: Timestamp
  /// When the profile last changed.
  public private(set) var updatedAt: Timestamp
  /// What the log commits to of the present password, and where; nil where it doesn't, and for a row
  /// that was read from the table, which doesn't have it.
  public private(set) var commitment: (commitment: Commitment, position: Position)?

  /// The row after `recorded`, on top of the row before it; nil for a user who has been erased, to
  /// whom each event without its payload belongs.
  public static func apply(
    _ recorded: RecordedEvent,
    to row: CurrentUserRow?
  ) throws(ProjectionError) -> CurrentUserRow? {
    guard !recorded.isErased else {
      _ = try recorded.knownKind()
      return nil
    }
    let event = try recorded.readable()
    guard var row else {
      guard let user = User(id: recorded.user, first: event) else {
        throw .unreadable(position: recorded.position, reason: "a user begins with \(event.type)")
      }
      return CurrentUserRow(
        user: user,
        createdAt: recorded.recordedAt,
        updatedAt: recorded.recordedAt,
        commitment: event.commitment.map { ($0, recorded.position) }
      )
    }
    if let commitment = event.commitment { row.commitment = (commitment, recorded.position) }
    row.user.apply(event)
    if event.stream == .profile { row.updatedAt = recorded.recordedAt }
    let version = event.stream == .profile ? row.user.version : row.user.accessVersion
    guard version == recorded.version else {
      throw .unreadable(
        position: recorded.position,
        reason: "version \(recorded.version) where \(version) was due"
      )
    }
    return row
  }

  /// The row as a line of `copy … from stdin` in text format.
  var copyLine: [UInt8] {
    var line = Array(
      """
      \(user.id)\t\(createdAt)\t\(updatedAt)\t\(user.version)\t\(user.accessVersion)\t\
      \(user.status.rawValue)\t\\\\x
      """.utf8
    )
    let digits = Array("0123456789abcdef".utf8)
    for byte in user.document { line += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    line.append(UInt8(ascii: "\n"))
    return line
  }

  /// Whether row `row` of the table, read as `columns`, is this one.
  func equals(_ rows: Rows, _ row: Int) -> Bool {
    rows.identifier(row, 0) == user.id && rows.timestamp(row, 1) == createdAt
      && rows.timestamp(row, 2) == updatedAt && rows.integer(row, 3) == user.version.rawValue
      && rows.integer(row, 4) == user.accessVersion.rawValue
      && rows.integer(row, 5) == user.status.rawValue
      && rows.bytes(row, 6).elementsEqual(user.document)
  }
}

extension CurrentUserRow {
  /// The row `row` of the table, read as `columns`.
  init(_ rows: Rows, _ row: Int, of table: String) throws(ProjectionError) {
    do {
      user = try User(
        document: rows.bytes(row, 6),
        version: Version(rows.integer(row, 3)),
        accessVersion: Version(rows.integer(row, 4))
      )
    } catch {
      throw .unreadableRow(
        table: table,
        reason: "the document of user \(rows.identifier(row, 0, as: UserID.self)) can't be read: "
          + (error.member ?? "no object")
      )
    }
    createdAt = rows.timestamp(row, 1)
    updatedAt = rows.timestamp(row, 2)
  }
}
