import Clocks
public import JSON
import Postgres
import Profiles

extension RecordedEvent {
  /// The event as histories show it: who, what, when, from where, old and new values.
  public var historyEntry: JSON {
    let source = Event.source(ofPayload: payload)?.object ?? [:]
    return [
      "position": .integer(position.rawValue), "version": .integer(Int64(version.rawValue)),
      "stream": .string(Event.Stream(rawValue: stream)?.name ?? "\(stream)"),
      "type": .string(type), "recordedAt": .string(recordedAt.description),
      "actor": [
        "kind": .string(actor.kindName),
        "id": actor.id.map { .string($0.description) } ?? .null,
      ],
      "source": [
        "address": source["address"] ?? .null, "agent": source["agent"] ?? .null,
        "session": source["session"] ?? .null,
        "requestId": requestID.map(JSON.string) ?? .null,
        "traceId": traceID.map(JSON.string) ?? .null,
      ],
      "changes": Event.changes(ofPayload: payload),
    ]
  }
}
