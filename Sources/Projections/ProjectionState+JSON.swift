import Clocks
import EventLog
public import JSON

extension ProjectionState {
  /// The state as commands and HTTP show it, with the open one of its rebuilds.
  public func json(rebuild: RebuildRecord?) -> JSON {
    [
      "name": .string(name),
      "mode": .string(mode.rawValue),
      "state": .string(condition.rawValue),
      "revision": .integer(Int64(revision)),
      "definedRevision": .integer(Int64(definedRevision)),
      "position": .integer(position.rawValue),
      "lag": .integer(lag),
      "error": stop.map {
        [
          "position": .integer($0.position.rawValue), "reason": .string($0.reason),
          "since": .string($0.time.description),
        ]
      } ?? .null,
      "rebuild": rebuild?.summary ?? .null,
      "previous": previous.map {
        ["position": .integer($0.position.rawValue), "revision": .integer(Int64($0.revision))]
      } ?? .null,
    ]
  }
}
