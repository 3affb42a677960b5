public import JSON

/// What a person registers with, but for the password, which no event may carry.
public struct Registration: Hashable, Sendable {
  /// The address that will sign in.
  public let email: EmailAddress
  /// The first name, if one was given.
  public let firstName: PersonName?
  /// The last name, if one was given.
  public let lastName: PersonName?
  /// The attributes that were given, ordered by name.
  public let attributes: JSONObject

  /// Reads `{email, password, firstName?, lastName?, attributes?}`, and finds all errors at once.
  ///
  /// Null stands for a member that is not there. The password comes back beside the
  /// registration, ready to be hashed.
  public static func read(
    _ json: JSON,
    schema: ProfileSchema,
    passwords: PasswordPolicy,
    today: CalendarDate
  ) throws(InvalidFields) -> (registration: Registration, password: Password) {
    guard case .object(let members) = json else { throw .notAnObject }
    var reader = FieldReader()
    reader.refuseUnknown(
      members,
      known: ["email", "password", "firstName", "lastName", "attributes"]
    )
    let email = reader.email(members["email"])
    let firstName = reader.name(members["firstName"], at: "/firstName")
    let lastName = reader.name(members["lastName"], at: "/lastName")
    let attributes = reader.attributes(members["attributes"], schema, today)
    let words = PersonalWords(email: email, firstName: firstName, lastName: lastName)
    let password = reader.password(members["password"], passwords, words)
    guard reader.errors.isEmpty, let email, let password else {
      throw InvalidFields(reader.errors)
    }
    let registration = Registration(
      email: email,
      firstName: firstName,
      lastName: lastName,
      attributes: attributes
    )
    return (registration, password)
  }
}

extension FieldReader {
  fileprivate mutating func email(_ json: JSON?) -> EmailAddress? {
    guard let text = text(json, at: "/email", isRequired: true) else { return nil }
    return value(at: "/email") { () throws(Problem) in try EmailAddress(checking: text) }
  }

  fileprivate mutating func name(_ json: JSON?, at pointer: JSONPointer) -> PersonName? {
    guard let text = text(json, at: pointer, isRequired: false) else { return nil }
    return value(at: pointer) { () throws(Problem) in try PersonName(text) }
  }

  fileprivate mutating func password(
    _ json: JSON?,
    _ policy: PasswordPolicy,
    _ words: PersonalWords
  ) -> Password? {
    guard let text = text(json, at: "/password", isRequired: true) else { return nil }
    return value(at: "/password") { () throws(Problem) in try policy.accept(text, words) }
  }

  fileprivate mutating func attributes(
    _ json: JSON?,
    _ schema: ProfileSchema,
    _ today: CalendarDate
  ) -> JSONObject {
    guard let patch = object(json ?? .object([:]), at: "/attributes") else { return [:] }
    var check = SchemaCheck(today: today)
    let checked = check.attributes(patch, schema.root, .patch)
    // What is wrong already would be wrong again in the whole.
    if check.errors.isEmpty {
      let whole = JSON.object(checked).merged(into: nil).object ?? [:]
      _ = check.attributes(whole, schema.root, .whole)
      check.refuseOversize(whole)
      errors += check.errors
      return whole
    }
    errors += check.errors
    return [:]
  }
}
