import CLinux

/// What a descriptor is watched for, and what it is ready for.
public struct Interest: OptionSet, Sendable {
  /// The set as bits: 1 read, 2 write.
  public let rawValue: UInt8

  /// The set of these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Bytes, a connection, an end or an error can be read.
  public static let read = Interest(rawValue: 1)
  /// Bytes can be written.
  public static let write = Interest(rawValue: 2)

  /// An error or a hang-up counts as readable: reading tells what happened.
  init(epoll events: UInt32) {
    var interest: Interest = []
    let readable = EPOLLIN.rawValue | EPOLLERR.rawValue | EPOLLHUP.rawValue | EPOLLRDHUP.rawValue
    if events & readable != 0 { interest.insert(.read) }
    if events & (EPOLLOUT.rawValue | EPOLLERR.rawValue) != 0 { interest.insert(.write) }
    self = interest
  }

  var epoll: UInt32 {
    (contains(.read) ? EPOLLIN.rawValue : 0) | (contains(.write) ? EPOLLOUT.rawValue : 0)
  }
}
