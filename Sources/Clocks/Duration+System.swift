public import Glibc

extension Duration {
  /// The duration as functions of the system take it.
  public var systemTime: timespec {
    let (seconds, attoseconds) = components
    var time = timespec()
    time.tv_sec = Int(seconds)
    time.tv_nsec = Int(attoseconds / 1_000_000_000)
    return time
  }
}
