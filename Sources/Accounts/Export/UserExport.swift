import Clocks
import EventLog
import JSON
import Profiles

/// All that is held about one person, as one JSON document that is written piece by piece.
///
/// ```json
/// {"format":"jejak-user","formatVersion":1,"exportedAt":"…","position":12,"user":{…},
///  "sessions":[…],"history":[…],"access":[…]}
/// ```
///
/// `position` is the last event of the log that was looked at. The parts come in this order.
public struct UserExport: Sendable {
  /// A list of the document.
  public enum Part: String, Sendable, CaseIterable {
    /// The sessions that have not ended, newest first.
    case sessions
    /// The events of the profile, oldest first.
    case history
    /// The events of sessions and sign-ins, oldest first.
    case access

    /// The stream whose events it lists; nil for sessions.
    var stream: Event.Stream? {
      switch self {
      case .sessions: nil
      case .history: .profile
      case .access: .access
      }
    }
  }

  /// Bytes after which a piece should be written.
  static let pieceSize = 64 * 1024
  /// Rows that are read at a time.
  static let pageLength = 500

  private var bytes: [UInt8] = []
  private var isFirst = true

  /// The document of `user`, as of `position`.
  init(of user: CurrentUser, upTo position: Position, at time: Timestamp) {
    bytes += "{\"format\":\"jejak-user\",\"formatVersion\":1,\"exportedAt\":\"\(time)\"".utf8
    bytes += ",\"position\":\(position),\"user\":".utf8
    bytes += user.document
    bytes += ",\"version\":\(user.version)".utf8
    for (name, time) in [("createdAt", user.createdAt), ("updatedAt", user.updatedAt)] {
      if let time { bytes += ",\"\(name)\":\"\(time)\"".utf8 }
    }
    bytes += "}".utf8
  }

  /// Begins a part; the one before has ended.
  mutating func begin(_ part: Part) {
    if part != .sessions { bytes += "]".utf8 }
    bytes += ",\"\(part.rawValue)\":[".utf8
    isFirst = true
  }

  /// Adds a session to the present part.
  mutating func add(_ session: ListedSession) {
    separate()
    let json: JSON = [
      "id": .string(session.id.description),
      "createdAt": .string(session.createdAt.description),
      "lastUsedAt": .string(session.lastUsedAt.description),
      "expiresAt": .string(session.expiresAt.description),
      "address": session.address.map(JSON.string) ?? .null,
      "agent": session.agent.map(JSON.string) ?? .null,
    ]
    json.write(into: &bytes)
  }

  /// Adds an event to the present part, as the user's own history shows it.
  mutating func add(_ event: RecordedEvent) {
    separate()
    event.writeHistoryEntry(into: &bytes)
  }

  /// Ends the document.
  mutating func end() { bytes += "]}\n".utf8 }

  /// Hands over what has been written, once it is a piece's worth, or `all` of it.
  mutating func take(all: Bool = false) -> [UInt8]? {
    guard all || bytes.count >= Self.pieceSize else { return nil }
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  private mutating func separate() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
  }
}
