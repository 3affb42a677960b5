public import JSON

/// Why a payload of the log can't be read.
public enum EventCodingError: Error, Hashable, Sendable {
  /// A newer release wrote this type or this form of it: stop, and say so.
  case unknown(type: String, schema: Int16)
  /// The payload lacks `member`, or has something else there: the log is corrupt.
  case invalid(type: String, member: String)
  /// The payload is gone with its user: go by the header.
  case erased(type: String)
}

extension EventCodingError: CustomStringConvertible {
  /// For the operator, without a person's data.
  public var description: String {
    switch self {
    case .unknown(let type, let schema):
      "this release knows no event type '\(type)' (schema \(schema))"
    case .invalid(let type, ""): "the payload of \(type) is no JSON"
    case .erased(let type): "the payload of \(type) is gone, since its user has been erased"
    case .invalid(let type, let member): "the payload of \(type) has no valid member '\(member)'"
    }
  }
}

extension Event {
  /// The event that the log keeps under `type` with this payload.
  public init(type: String, schema: Int16, payload: JSON) throws(EventCodingError) {
    guard schema == 1 else { throw .unknown(type: type, schema: schema) }
    let reader = PayloadReader(type: type, payload: payload)
    switch Kind(rawValue: type) {
    case .userRegistered:
      let registration = try reader.registration()
      self = .userRegistered(registration, try reader.optional("commitment", Commitment.init))
    case .profileUpdated:
      let changes = try reader.changes().map(reader.fieldChange)
      self = .profileUpdated(changes, reverts: try reader.reverts())
    case .emailChanged:
      let (old, new) = try reader.email()
      let isVerified = try reader.member("emailVerified") { $0.bool }
      self = .emailChanged(old: old, new: new, isVerified: isVerified)
    case .passwordChanged:
      self = .passwordChanged(
        try reader.member("commitment") { $0.string.flatMap(Commitment.init(hexadecimal:)) }
      )
    case .userSuspended: self = .userSuspended
    case .userReinstated: self = .userReinstated
    case .userErased: self = .userErased
    case .signedIn: self = .signedIn(try reader.session())
    case .signInFailed: self = .signInFailed
    case .signedOut: self = .signedOut(try reader.session())
    case .sessionsRevoked:
      let count = try reader.member("count") { $0.integer.flatMap(Int.init(exactly:)) }
      self = .sessionsRevoked(count: count, kept: try reader.optional("kept") { SessionID($0) })
    case nil: throw .unknown(type: type, schema: schema)
    }
  }
}

/// The members of one payload.
private struct PayloadReader {
  let type: String
  let payload: JSON

  func member<Value>(
    _ name: String,
    _ convert: (JSON) -> Value?
  ) throws(EventCodingError) -> Value {
    guard let json = payload.object?[name], let value = convert(json) else {
      throw .invalid(type: type, member: name)
    }
    return value
  }

  func optional<Value>(
    _ name: String,
    _ convert: (String) -> Value?
  ) throws(EventCodingError) -> Value? {
    guard let json = payload.object?[name], !json.isNull else { return nil }
    return try member(name) { $0.string.flatMap(convert) }
  }

  func session() throws(EventCodingError) -> SessionID {
    try member("session") { $0.string.flatMap { SessionID($0) } }
  }

  func reverts() throws(EventCodingError) -> Version? {
    guard payload.object?["reverts"] != nil else { return nil }
    return try member("reverts") { $0.integer.flatMap(Int32.init(exactly:)).map { Version($0) } }
  }

  func changes() throws(EventCodingError) -> [Event.RecordedChange] {
    try member("changes") { json in
      guard let list = json.array else { return nil }
      let changes = list.compactMap { entry -> Event.RecordedChange? in
        guard let object = entry.object, let field = object["field"]?.string,
          let old = object["old"], let new = object["new"]
        else { return nil }
        return .init(field: field, old: old, new: new)
      }
      return changes.count == list.count ? changes : nil
    }
  }

  func fieldChange(_ change: Event.RecordedChange) throws(EventCodingError) -> FieldChange {
    guard let field = ProfileField(name: change.field) else { throw invalidChanges }
    switch field {
    case .firstName, .lastName:
      guard change.new.isNull || change.new.string != nil else { throw invalidChanges }
    case .attribute: break
    }
    return FieldChange(field, old: change.old, new: change.new)
  }

  func email() throws(EventCodingError) -> (old: EmailAddress, new: EmailAddress) {
    guard let change = try changes().first, change.field == "email",
      let old = change.old.string, let new = change.new.string
    else { throw invalidChanges }
    return (EmailAddress(stored: old), EmailAddress(stored: new))
  }

  func registration() throws(EventCodingError) -> Registration {
    var changes = try changes()
    guard let first = changes.first, first.field == "email", let email = first.new.string else {
      throw invalidChanges
    }
    changes.removeFirst()
    var (firstName, lastName): (PersonName?, PersonName?)
    var attributes = JSONObject()
    for change in try changes.map(fieldChange) {
      switch change.field {
      case .firstName: firstName = change.new.string.map(PersonName.init(stored:))
      case .lastName: lastName = change.new.string.map(PersonName.init(stored:))
      case .attribute(let name): attributes[name] = change.new
      }
    }
    return Registration(
      email: EmailAddress(stored: email),
      firstName: firstName,
      lastName: lastName,
      attributes: attributes.sortedByKey()
    )
  }

  private var invalidChanges: EventCodingError { .invalid(type: type, member: "changes") }
}
