import Clocks
import JSON
import Profiles

extension RecordedEvent {
  /// Whom an entry is shown to.
  public enum Audience: Sendable {
    /// The user themselves.
    case user
    /// An operator, who also sees whose event it is, and what the key was called that caused it.
    case `operator`(keyName: String?)
  }

  /// The event as histories show it, as JSON text: who, what, when, from where, old and new
  /// values.
  public var historyEntry: [UInt8] { historyEntry(for: .user) }

  /// The same for `audience`.
  public func historyEntry(for audience: Audience) -> [UInt8] {
    var entry: [UInt8] = []
    writeHistoryEntry(for: audience, into: &entry)
    return entry
  }

  /// Appends `historyEntry`; old and new values and the source are copied from the payload.
  ///
  /// Of an event of sessions: `session` that began or ended, or `count` that ended and the one
  /// that was `kept`. Of a change that undoes another: the version that it `reverts`.
  ///
  /// Where the payload is gone there is a tombstone: what the header tells, with the names of the
  /// fields, and `"erased":true`.
  public func writeHistoryEntry(for audience: Audience = .user, into entry: inout [UInt8]) {
    let payload = JSONMembers(of: payload[...])
    let source = (payload?["source"]).flatMap { JSONMembers(of: $0) }
    entry += "{\"position\":".utf8
    entry += position.description.utf8
    if case .operator = audience {
      entry += ",\"user\":\"".utf8
      entry += user.description.utf8
      entry += "\"".utf8
    }
    entry += ",\"version\":".utf8
    entry += version.description.utf8
    entry += ",\"stream\":\"".utf8
    entry += (Event.Stream(rawValue: stream)?.name ?? "\(stream)").utf8
    entry += "\",\"type\":".utf8
    JSON.write(type, into: &entry)
    entry += ",\"recordedAt\":\"".utf8
    recordedAt.write(into: &entry)
    entry += "\",\"actor\":{\"kind\":\"".utf8
    entry += actor.kindName.utf8
    entry += "\",\"id\":".utf8
    write(actor.id?.description, into: &entry)
    if case .operator(let keyName?) = audience {
      entry += ",\"name\":".utf8
      write(keyName, into: &entry)
    }
    entry += "},\"source\":{\"address\":".utf8
    entry += source?["address"] ?? Self.null
    entry += ",\"agent\":".utf8
    entry += source?["agent"] ?? Self.null
    entry += ",\"session\":".utf8
    entry += source?["session"] ?? Self.null
    entry += ",\"requestId\":".utf8
    write(requestID, into: &entry)
    entry += ",\"traceId\":".utf8
    write(traceID, into: &entry)
    entry += "},\"changes\":".utf8
    if isErased {
      writeNames(into: &entry)
      entry += ",\"erased\":true".utf8
    } else {
      // An unreadable payload is not one that changed nothing.
      entry += payload?["changes"] ?? Self.null
      if let unreadable {
        entry += ",\"unreadable\":".utf8
        write(unreadable, into: &entry)
      }
    }
    for (name, value) in [
      ("session", payload?["session"]), ("count", payload?["count"]), ("kept", payload?["kept"]),
      ("reverts", payload?["reverts"]),
    ] {
      guard let value else { continue }
      entry += ",\"\(name)\":".utf8
      entry += value
    }
    entry += "}".utf8
  }

  /// The fields that changed, without their values.
  private func writeNames(into entry: inout [UInt8]) {
    entry += "[".utf8
    for (index, name) in changed.enumerated() {
      entry += (index == 0 ? "{\"field\":" : ",{\"field\":").utf8
      JSON.write(name, into: &entry)
      entry += ",\"old\":null,\"new\":null}".utf8
    }
    entry += "]".utf8
  }

  private static let null = Array("null".utf8)[...]

  private func write(_ text: String?, into entry: inout [UInt8]) {
    if let text { JSON.write(text, into: &entry) } else { entry += Self.null }
  }
}
