internal import JSON

/// Gives the fields that one change touched the values back that they had before it.
public struct Reversion: Sendable {
  let version: Version
  let changes: [FieldChange]
  let overwrites: Bool
  let schema: ProfileSchema
  let today: CalendarDate

  /// The reversion of `event`, which made `version`; nil where it is no change of a profile.
  ///
  /// With `overwrites` it also takes back what later changes made of the same fields.
  public init?(
    of event: Event,
    version: Version,
    overwrites: Bool,
    schema: ProfileSchema,
    today: CalendarDate
  ) {
    guard case .profileUpdated(let changes, _) = event else { return nil }
    self.version = version
    self.changes = changes
    self.overwrites = overwrites
    self.schema = schema
    self.today = today
  }
}

extension User {
  /// What `reversion` makes different; the old values must hold by the present schema.
  ///
  /// A field that has its old value already stays. One that has neither the value from before the
  /// change nor the one from after it was changed since.
  func changes(of reversion: Reversion) throws(Refusal) -> [FieldChange] {
    var changes: [FieldChange] = []
    var changedSince: [ProfileField] = []
    for change in reversion.changes {
      let present = value(of: change.field)
      guard present != change.old else { continue }
      if present != change.new { changedSince.append(change.field) }
      changes.append(FieldChange(change.field, old: present, new: change.old))
    }
    guard changedSince.isEmpty || reversion.overwrites else { throw .changedSince(changedSince) }
    return try checked(changes, reversion)
  }

  private func checked(
    _ changes: [FieldChange],
    _ reversion: Reversion
  ) throws(Refusal) -> [FieldChange] {
    var reader = FieldReader()
    var check = SchemaCheck(today: reversion.today)
    let root = reversion.schema.root
    var result = attributes
    let checked = changes.map { change in
      switch change.field {
      case .firstName, .lastName:
        if let text = change.new.string {
          _ = reader.value(at: change.field.pointer) { () throws(Problem) in try PersonName(text) }
        }
        return change
      case .attribute(let name):
        var new: JSON?
        if !change.new.isNull {
          check.refuseUnknown(name, root)
          new = check.attribute(name, change.new, root)
        } else if root.required.contains(name) {
          check.refuse(missing: [name])
        }
        result[name] = new
        return FieldChange(change.field, old: change.old, new: new ?? .null)
      }
    }
    if !checked.isEmpty { check.refuseOversize(result) }
    let errors = (reader.errors + check.errors).prefix(FieldError.maximumCount)
    guard errors.isEmpty else { throw .invalid(Array(errors)) }
    return checked.filter { $0.old != $0.new }
  }
}
