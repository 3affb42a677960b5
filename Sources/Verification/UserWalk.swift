import Clocks
import EventLog
import Keys
import Postgres
import Profiles
import Projections
import Sodium

/// Checks events that come user by user, and what stands beside the log for each user.
struct UserWalk {
  /// The columns of `RecordedEvent.eventsOfMany` that are checked.
  static let columns = RecordedEvent.columnsOfMany + ", payload_sha256"
  /// The order in which events must come.
  static let order = CurrentUsersFold.order

  private static let digestColumn = RecordedEvent.columnCount

  /// How far the events of a user have come.
  private struct Present {
    let user: UserID
    var profile = Version.zero
    var access = Version.zero
    /// What comes of the events isn't known, since one of them makes no sense.
    var isUnreadable = false
    /// Where the user was erased; nil for one who was not.
    var erasure: Position?
    /// When.
    var erasedAt: Timestamp?
  }

  private let findings: Findings
  private var reader: EventReader
  private var fold: CurrentUsersFold
  private var comparison: CurrentUsersComparison
  private var passwords: StoredPasswords
  private var erasures: StoredErasures
  /// The keys of those alone whom the log knows; that nobody lacks theirs is told by the payloads,
  /// which don't open.
  private var keys: StoredRows
  private var claims: StoredClaims
  private var present: Present?
  /// Events of the present user that have a payload.
  private var withPayload: [Position] = []
  /// Those that have lost it, as it is where the user has been erased.
  private var withoutPayload: [Position] = []
  /// Users that had events.
  private(set) var users: Int64 = 0

  init(
    _ range: UserRange,
    _ keyring: Keyring,
    _ findings: Findings,
    _ connection: borrowing BlockingConnection
  ) throws {
    self.findings = findings
    reader = EventReader(keyring)
    fold = CurrentUsersFold(keyring)
    comparison = try CurrentUsersComparison(range, connection)
    passwords = try StoredPasswords(range, findings, connection)
    erasures = try StoredErasures(range, findings, connection)
    keys = try StoredRows(
      "keys",
      "select user_id from user_keys where true",
      range,
      unfounded: .keyIsUnfounded,
      findings,
      connection
    )
    claims = try StoredClaims(range, findings, connection)
  }

  /// Checks the event in row `row`, which has the `columns`.
  mutating func add(_ rows: Rows, _ row: Int, _ connection: borrowing BlockingConnection) throws {
    let event = reader.event(rows, row)
    if present?.user != event.user {
      try end(connection)
      present = Present(user: event.user)
      users += 1
    }
    checkPayload(of: event, rows, row)
    checkVersion(of: event)
    if let erasure = present?.erasure, event.position > erasure {
      note(event, .eventFollowsErasure(erasure))
    }
    guard present?.isUnreadable == false else { return }
    do {
      try fold.add(event) { _ in }
    } catch let ProjectionError.unreadable(_, reason) {
      note(event, .unreadable(reason))
      present?.isUnreadable = true
    }
  }

  /// Checks what stands beside the log for the last user, and for those without events.
  mutating func finish(_ connection: borrowing BlockingConnection) throws {
    try end(connection)
    try comparison.finish(connection, note)
    try passwords.finish(connection)
    try erasures.finish(connection)
    try keys.finish(connection)
    try claims.finish(connection)
  }

  private mutating func checkPayload(of event: RecordedEvent, _ rows: Rows, _ row: Int) {
    let isErasure = event.type == Event.Kind.userErased.rawValue
    if isErasure {
      present?.erasure = event.position
      present?.erasedAt = event.recordedAt
    }
    let isGone = event.payloadState != .stored
    if isGone, !isErasure {
      // Its digest is that of what was there.
      withoutPayload.append(event.position)
      present?.isUnreadable = true
      return
    }
    let digest = SHA256.value(of: rows.bytes(row, RecordedEvent.payloadColumn))
    if SHA256.Digest(rows.bytes(row, Self.digestColumn)) != digest {
      note(event, .payloadDigest)
    }
    // An erasure never had a payload.
    guard !isGone else { return }
    withPayload.append(event.position)
    if let reason = event.unreadable {
      note(event, .unreadable(reason))
      present?.isUnreadable = true
    }
  }

  private mutating func checkVersion(of event: RecordedEvent) {
    let isAccess = event.stream == Event.Stream.access.rawValue
    let last = isAccess ? present?.access : present?.profile
    if isAccess { present?.access = event.version } else { present?.profile = event.version }
    let due = (last ?? .zero).next
    guard event.version != due else { return }
    note(event, .version(found: event.version, due: due))
    present?.isUnreadable = true
  }

  /// The events of the present user are all there.
  private mutating func end(_ connection: borrowing BlockingConnection) throws {
    guard let present else { return }
    self.present = nil
    defer {
      withPayload.removeAll(keepingCapacity: true)
      withoutPayload.removeAll(keepingCapacity: true)
    }
    try erasures.compare(
      present.user,
      with: present.erasure,
      at: present.erasedAt,
      connection
    )
    try keys.skip(present.user, connection)
    if present.erasure != nil {
      // Nothing is due; what is there all the same is told when it is passed over.
      fold.abandon()
      for position in withPayload { findings.note(.position(position), .payloadRemains) }
      try claims.compare(present.user, with: nil, connection)
      return try passwords.compare(present.user, with: nil, connection)
    }
    for position in withoutPayload {
      findings.note(.position(position), .payloadIsMissing)
    }
    if present.isUnreadable {
      fold.abandon()
      try comparison.skip(present.user, connection, note)
      try passwords.skip(present.user, connection)
      try claims.compare(present.user, with: nil, connection)
    } else {
      let row = try fold.finish()
      if let row { try comparison.compare(row, connection, note) }
      try passwords.compare(present.user, with: row?.commitment, connection)
      try claims.compare(present.user, with: row?.user.email, connection)
    }
  }

  private func note(_ event: RecordedEvent, _ problem: Problem) {
    findings.note(.position(event.position), problem)
  }

  private func note(_ user: UserID, _ difference: CurrentUsersComparison.Difference) {
    let problem: Problem =
      switch difference {
      case .differs: .rowDiffers
      case .isMissing: .rowIsMissing
      case .isUnfounded: .rowIsUnfounded
      }
    findings.note(.user(user), problem)
  }
}
