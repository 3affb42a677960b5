import EventLog
import Keys
import Postgres
import Profiles
import Projections
import Sodium

/// Checks events that come user by user, and what stands beside the log for each user.
struct UserWalk {
  /// The columns of an event that are checked.
  static let columns = RecordedEvent.columns + ", payload_sha256"
  /// The order in which events must come.
  static let order = CurrentUsersFold.order

  private static let digestColumn = RecordedEvent.columnCount

  /// How far the events of a user have come.
  private struct Present {
    let user: UserID
    var versions: [Int16: Version] = [:]
    var committed: StoredPasswords.Committed?
    /// What comes of the events isn't known, since one of them makes no sense.
    var isUnreadable = false
    /// Where the user was erased; nil for one who was not.
    var erasure: Position?
    /// Events that have lost their payload, as it is where the user has been erased.
    var withoutPayload: [Position] = []
    /// Events that have one.
    var withPayload: [Position] = []
  }

  private let findings: Findings
  private var reader: EventReader
  private var fold: CurrentUsersFold
  private var comparison: CurrentUsersComparison
  private var passwords: StoredPasswords
  private var erasures: StoredErasures
  private var present: Present?
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
      if let committed = try event.committed() { present?.committed = committed }
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
  }

  private mutating func checkPayload(of event: RecordedEvent, _ rows: Rows, _ row: Int) {
    let isErasure = event.type == Event.Kind.userErased.rawValue
    if isErasure { present?.erasure = event.position }
    if event.isErased, !isErasure {
      // Its digest is that of what was there.
      present?.withoutPayload.append(event.position)
      present?.isUnreadable = true
      return
    }
    let digest = SHA256.value(of: rows.bytes(row, RecordedEvent.payloadColumn))
    if SHA256.Digest(rows.bytes(row, Self.digestColumn)) != digest {
      note(event, .payloadDigest)
    }
    if !event.isErased { present?.withPayload.append(event.position) }
    if let reason = event.unreadable {
      note(event, .unreadable(reason))
      present?.isUnreadable = true
    }
  }

  private mutating func checkVersion(of event: RecordedEvent) {
    let last = present?.versions.updateValue(event.version, forKey: event.stream)
    let due = Version((last ?? .zero).rawValue + 1)
    guard event.version != due else { return }
    note(event, .version(found: event.version, due: due))
    present?.isUnreadable = true
  }

  /// The events of the present user are all there.
  private mutating func end(_ connection: borrowing BlockingConnection) throws {
    guard let present else { return }
    self.present = nil
    try erasures.compare(present.user, with: present.erasure, connection)
    if present.erasure != nil {
      // Nothing is due; what is there all the same is told when it is passed over.
      fold.abandon()
      for position in present.withPayload { findings.note(.position(position), .payloadRemains) }
      return try passwords.compare(present.user, with: nil, connection)
    }
    for position in present.withoutPayload {
      findings.note(.position(position), .payloadIsMissing)
    }
    if present.isUnreadable {
      fold.abandon()
      try comparison.skip(present.user, connection, note)
      try passwords.skip(present.user, connection)
    } else {
      if let row = try fold.finish() { try comparison.compare(row, connection, note) }
      try passwords.compare(present.user, with: present.committed, connection)
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

extension RecordedEvent {
  /// What the event commits to; nil where it says nothing of a password.
  fileprivate func committed() throws(ProjectionError) -> StoredPasswords.Committed? {
    guard type == Event.Kind.userRegistered.rawValue || type == Event.Kind.passwordChanged.rawValue
    else { return nil }
    do {
      return try event().commitment.map { .init(commitment: $0, position: position) }
    } catch {
      throw .unreadable(position: position, reason: "\(error)")
    }
  }
}
