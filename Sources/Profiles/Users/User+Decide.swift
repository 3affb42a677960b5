internal import JSON

extension User {
  /// The event that begins a profile; `commitment` is that of the password's hash, if there is one.
  public static func register(
    _ registration: Registration,
    commitment: Commitment?
  ) -> [Event] {
    [.userRegistered(registration, commitment)]
  }

  /// The events that carry out `command`; none where it already holds.
  public func decide(_ command: Command) throws(Refusal) -> [Event] {
    switch command {
    case .updateProfile(let patch):
      let changes = try self.changes(of: patch)
      return changes.isEmpty ? [] : [.profileUpdated(changes)]
    case .revert(let reversion):
      let changes = try self.changes(of: reversion)
      return changes.isEmpty ? [] : [.profileUpdated(changes, reverts: reversion.version)]
    case .changePassword(let commitment):
      try requireActive()
      return [.passwordChanged(commitment)]
    case .changeEmail(let new, let isVerified):
      try requireActive()
      return new == email && isVerified == emailVerified
        ? [] : [.emailChanged(old: email, new: new, isVerified: isVerified)]
    case .suspend:
      return status == .suspended ? [] : [.userSuspended]
    case .reinstate:
      return status == .active ? [] : [.userReinstated]
    case .erase:
      return [.userErased]
    case .signIn(let session):
      try requireActive()
      return [.signedIn(session)]
    case .recordFailedSignIn:
      return [.signInFailed]
    case .signOut(let session):
      return [.signedOut(session)]
    case .revokeSessions(let count, let kept):
      return count == 0 ? [] : [.sessionsRevoked(count: count, kept: kept)]
    }
  }

  private func requireActive() throws(Refusal) {
    guard status == .active else { throw .suspended }
  }

  /// What `patch` makes different, names first, then attributes by name.
  private func changes(of patch: ProfilePatch) throws(Refusal) -> [FieldChange] {
    var changes: [FieldChange] = []
    note(.firstName, firstName, patch.firstName, &changes)
    note(.lastName, lastName, patch.lastName, &changes)
    switch patch.attributes {
    case .keep: break
    case .clear:
      changes += attributes.map { FieldChange(.attribute($0.key), old: $0.value, new: .null) }
    case .set(let attributes):
      changes += try self.changes(of: attributes, patch)
    }
    return changes
  }

  private func note(
    _ field: ProfileField,
    _ old: PersonName?,
    _ change: ProfilePatch.Change<PersonName>,
    _ changes: inout [FieldChange]
  ) {
    let new: PersonName?
    switch change {
    case .keep: return
    case .clear: new = nil
    case .set(let name): new = name
    }
    guard new != old else { return }
    changes.append(FieldChange(field, old: old.json, new: new.json))
  }

  private func changes(
    of merge: JSONObject,
    _ patch: ProfilePatch
  ) throws(Refusal) -> [FieldChange] {
    var changes: [FieldChange] = []
    var check = SchemaCheck(today: patch.today)
    var result = attributes
    for member in merge {
      let old = attributes[member.key]
      var new: JSON?
      if !member.value.isNull { new = member.value.merged(into: old) }
      if old == nil, new == nil { check.refuseUnknown(member.key, patch.schema.root) }
      guard new != old else { continue }
      // Only an object can have become wrong by merging; the rest was checked when it was read.
      if let value = new, value.object != nil {
        new = check.attribute(member.key, value, patch.schema.root)
      }
      result[member.key] = new
      changes.append(FieldChange(.attribute(member.key), old: old ?? .null, new: new ?? .null))
    }
    if !changes.isEmpty { check.refuseOversize(result) }
    guard check.errors.isEmpty else { throw .invalid(check.errors) }
    return changes
  }
}
