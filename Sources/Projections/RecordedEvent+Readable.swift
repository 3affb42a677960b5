import EventLog
import Profiles

extension RecordedEvent {
  /// What happened; where it can't be read, the projection stops at this position.
  func readable() throws(ProjectionError) -> Event {
    do {
      return try event()
    } catch {
      if case .sealed(let reason) = error, lacksMasterKey {
        throw .locked(position: position, reason: reason)
      }
      throw .unreadable(position: position, reason: "\(error)")
    }
  }

  /// What kind of thing happened, by the header alone; where this release doesn't know the type
  /// or its form, the projection stops at this position.
  func knownKind() throws(ProjectionError) -> Event.Kind {
    guard schema == 1, let kind = Event.Kind(rawValue: type) else {
      throw .unreadable(
        position: position,
        reason: "\(EventCodingError.unknown(type: type, schema: schema))"
      )
    }
    return kind
  }
}
