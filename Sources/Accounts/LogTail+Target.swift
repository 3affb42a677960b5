public import EventLog
public import EventLoop

extension LogTail {
  /// The tail of the log at `target`, a libpq connection string; `open` connects.
  public convenience init(
    loop: EventLoop,
    target: String,
    report: @escaping @Sendable (String) -> Void
  ) {
    self.init(loop: loop, configuration: Connections.configuration(target, []), report: report)
  }
}
