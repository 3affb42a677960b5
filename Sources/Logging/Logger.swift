import Clocks

/// Writes records to standard error, one line each.
///
/// **No personal data.** A record may name users by id, and fields by name. Addresses, names,
/// values of a profile, passwords, tokens and links stay out of it, at every level. A message
/// is fixed text for that reason (and so that it can be searched for and counted); what varies
/// goes into the fields.
public struct Logger: Sendable {
  /// The lowest level that is written.
  public let level: LogLevel

  private let format: LogFormat
  private let sink: LogSink
  private let now: @Sendable () -> String

  /// A logger to a descriptor, by default standard error.
  public init(format: LogFormat, level: LogLevel = .info, descriptor: Int32 = 2) {
    self.init(
      format: format,
      level: level,
      descriptor: descriptor,
      now: { Timestamp.now().description }
    )
  }

  init(
    format: LogFormat,
    level: LogLevel,
    descriptor: Int32,
    now: @escaping @Sendable () -> String
  ) {
    self.format = format
    self.level = level
    sink = LogSink(descriptor: descriptor)
    self.now = now
  }

  /// Writes a record, unless its level is under the logger's; the fields are not even made
  /// then.
  public func log(
    _ level: LogLevel,
    _ message: StaticString,
    _ fields: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:]
  ) {
    guard level >= self.level else { return }
    let record = Record(
      time: now(),
      level: level,
      message: message.description,
      fields: fields().map { ($0.key.description, $0.value) }
    )
    sink.write(record.line(as: format))
  }

  /// Writes a record at level `debug`.
  public func debug(
    _ message: StaticString,
    _ fields: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:]
  ) {
    log(.debug, message, fields())
  }

  /// Writes a record at level `info`.
  public func info(
    _ message: StaticString,
    _ fields: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:]
  ) {
    log(.info, message, fields())
  }

  /// Writes a record at level `notice`.
  public func notice(
    _ message: StaticString,
    _ fields: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:]
  ) {
    log(.notice, message, fields())
  }

  /// Writes a record at level `warning`.
  public func warning(
    _ message: StaticString,
    _ fields: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:]
  ) {
    log(.warning, message, fields())
  }

  /// Writes a record at level `error`.
  public func error(
    _ message: StaticString,
    _ fields: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:]
  ) {
    log(.error, message, fields())
  }
}
