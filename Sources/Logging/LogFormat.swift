/// How a record is written down.
public enum LogFormat: String, CaseIterable, Sendable {
  /// One JSON object a line, for machines.
  case json
  /// `time LEVEL message key=value …`, for people.
  case text
}
