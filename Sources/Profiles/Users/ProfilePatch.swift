public import JSON

/// A merge patch (RFC 7396) of a profile: what is absent stays, null clears, the rest is set.
///
/// It is checked as far as that goes without the profile; `User.decide` checks what it merges to.
public struct ProfilePatch: Sendable {
  let firstName: Change<PersonName>
  let lastName: Change<PersonName>
  let attributes: Change<JSONObject>
  let schema: ProfileSchema
  let today: CalendarDate

  enum Change<Value: Sendable>: Sendable {
    case keep
    case clear
    case set(Value)
  }

  /// Reads `{firstName?, lastName?, attributes?}`, and finds all errors at once.
  public init(
    _ json: JSON,
    schema: ProfileSchema,
    today: CalendarDate
  ) throws(InvalidFields) {
    guard case .object(let members) = json else { throw .notAnObject }
    var reader = FieldReader()
    reader.refuseUnknown(members, known: ["firstName", "lastName", "attributes"])
    firstName = reader.name(members["firstName"], at: "/firstName")
    lastName = reader.name(members["lastName"], at: "/lastName")
    attributes = reader.attributes(members["attributes"], schema, today)
    self.schema = schema
    self.today = today
    guard reader.errors.isEmpty else { throw InvalidFields(reader.errors) }
  }
}

extension FieldReader {
  fileprivate mutating func name(
    _ json: JSON?,
    at pointer: JSONPointer
  ) -> ProfilePatch.Change<PersonName> {
    guard let json else { return .keep }
    guard !json.isNull else { return .clear }
    guard let text = text(json, at: pointer, isRequired: false),
      let name = value(at: pointer, { () throws(Problem) in try PersonName(text) })
    else { return .keep }
    return .set(name)
  }

  fileprivate mutating func attributes(
    _ json: JSON?,
    _ schema: ProfileSchema,
    _ today: CalendarDate
  ) -> ProfilePatch.Change<JSONObject> {
    guard let json else { return .keep }
    var check = SchemaCheck(today: today)
    defer { errors += check.errors }
    guard !json.isNull else {
      check.refuse(missing: schema.root.required)
      return .clear
    }
    guard let patch = object(json, at: "/attributes") else { return .keep }
    return .set(check.attributes(patch, schema.root, .patch))
  }
}
