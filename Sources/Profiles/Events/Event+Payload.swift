public import JSON

extension Event {
  /// One entry of a payload's `changes`.
  struct RecordedChange {
    let field: String
    let old: JSON
    let new: JSON
  }

  /// What the event changed, as the history shows it.
  var recordedChanges: [RecordedChange] {
    switch self {
    case .userRegistered(let registration, _):
      var changes = [
        RecordedChange(field: "email", old: .null, new: .string(registration.email.text))
      ]
      if let name = registration.firstName {
        changes.append(.init(field: "firstName", old: .null, new: .string(name.text)))
      }
      if let name = registration.lastName {
        changes.append(.init(field: "lastName", old: .null, new: .string(name.text)))
      }
      for member in registration.attributes {
        let field = ProfileField.attribute(member.key).name
        changes.append(.init(field: field, old: .null, new: member.value))
      }
      return changes
    case .profileUpdated(let changes, _):
      return changes.map { .init(field: $0.field.name, old: $0.old, new: $0.new) }
    case .emailChanged(let old, let new, _):
      return [.init(field: "email", old: .string(old.text), new: .string(new.text))]
    case .userSuspended:
      return [Self.status(from: .active, to: .suspended)]
    case .userReinstated:
      return [Self.status(from: .suspended, to: .active)]
    case .passwordChanged, .userErased, .signedIn, .signInFailed, .signedOut, .sessionsRevoked:
      return []
    }
  }

  private static func status(from old: User.Status, to new: User.Status) -> RecordedChange {
    .init(field: "status", old: .string(old.name), new: .string(new.name))
  }

  /// What the log seals: `{"changes":[{field,old,new}], …, "source":{…}}`.
  ///
  /// `source` says where the command came from (address, agent, session, …); this module doesn't
  /// look into it.
  public func payload(source: JSON?) -> JSON {
    var members: [JSONObject.Member] = [
      .init(
        key: "changes",
        value: .array(
          recordedChanges.map {
            .object([("field", .string($0.field)), ("old", $0.old), ("new", $0.new)])
          }
        )
      )
    ]
    switch self {
    case .userRegistered(_, let commitment?), .passwordChanged(let commitment):
      members.append(.init(key: "commitment", value: .string(commitment.hexadecimal)))
    case .emailChanged(_, _, let isVerified):
      members.append(.init(key: "emailVerified", value: .bool(isVerified)))
    case .signedIn(let session), .signedOut(let session):
      members.append(.init(key: "session", value: .string(session.description)))
    case .sessionsRevoked(let count, let kept):
      members.append(.init(key: "count", value: .integer(Int64(count))))
      members.append(.init(key: "kept", value: kept.map { .string($0.description) } ?? .null))
    case .profileUpdated(_, let reverts?):
      members.append(.init(key: "reverts", value: .integer(Int64(reverts.rawValue))))
    case .userRegistered(_, nil), .profileUpdated(_, nil), .userSuspended, .userReinstated,
      .userErased, .signInFailed:
      break
    }
    if let source { members.append(.init(key: "source", value: source)) }
    return .object(JSONObject(members))
  }

  /// The `[{field,old,new}]` of a payload, for the history; empty where nothing was changed.
  public static func changes(ofPayload payload: JSON) -> JSON {
    payload.object?["changes"] ?? .array([])
  }

  /// The `{…}` that the event's source was, for the history; nil where it has none.
  public static func source(ofPayload payload: JSON) -> JSON? {
    payload.object?["source"]
  }
}

extension JSON {
  fileprivate static func object(_ members: [(String, JSON)]) -> JSON {
    .object(JSONObject(members.map { .init(key: $0.0, value: $0.1) }))
  }
}
