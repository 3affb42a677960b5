import CPostgres
import Clocks
import Glibc

extension BlockingConnection {
  /// What makes TCP notice a peer that has gone without a word: after about four seconds.
  static let vigilance = [
    ("keepalives", "1"), ("keepalives_idle", "1"), ("keepalives_interval", "1"),
    ("keepalives_count", "3"), ("tcp_user_timeout", "4000"),
  ]

  /// Waits until somebody notifies a channel that this session listens on; false where nobody did
  /// in time, or where the descriptor `wake` became readable before.
  public func waitForNotification(
    atMost duration: Duration,
    wake: Int32? = nil
  ) throws(Failure) -> Bool {
    let deadline = Instant.now() + duration
    while true {
      var isNotified = false
      while let notification = PQnotifies(handle) {
        PQfreemem(notification)
        isNotified = true
      }
      if isNotified { return true }
      guard PQstatus(handle) == CONNECTION_OK else { throw lost() }
      switch wait(for: POLLIN, until: deadline, wake: wake) {
      case .readable: try consume()
      case .woken, .late: return false
      }
    }
  }

  /// Sends a statement with `send` and gives its last result, or the first error.
  func answer(
    within patience: Duration,
    _ send: () -> Int32
  ) throws(Failure) -> OpaquePointer? {
    let deadline = Instant.now() + patience
    // What is sent must not block either; libpq keeps what the socket doesn't take.
    PQsetnonblocking(handle, 1)
    guard send() == 1 else { throw lost() }
    var last: OpaquePointer?
    do throws(Failure) {
      while true {
        try awaitAnswer(until: deadline)
        guard let result = PQgetResult(handle) else { return last }
        PQclear(last)
        last = result
        // A connection that fails meanwhile would give this state for ever.
        if PQstatus(handle) == CONNECTION_BAD || PQresultStatus(result) == PGRES_COPY_IN {
          return last
        }
      }
    } catch {
      PQclear(last)
      throw error
    }
  }

  /// Waits until `PQgetResult` would not block.
  func awaitAnswer(until deadline: Instant) throws(Failure) {
    while true {
      let unsent = PQflush(handle)
      guard unsent >= 0 else { throw lost() }
      if unsent == 0 && PQisBusy(handle) == 0 { return }
      switch wait(for: unsent == 0 ? POLLIN : POLLIN | POLLOUT, until: deadline, wake: nil) {
      case .readable: try consume()
      case .woken: break
      case .late:
        throw Failure(
          message: "the database took too long to answer",
          sqlState: nil,
          isConnectionLost: true
        )
      }
    }
  }

  private enum Waited { case readable, woken, late }

  private func wait(for events: Int32, until deadline: Instant, wake: Int32?) -> Waited {
    while true {
      let (seconds, attoseconds) = (deadline - .now()).components
      // Rounded up, so that the deadline has passed when this returns.
      let left = max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
      // A descriptor below zero is left out by the system.
      var descriptors = [
        pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0),
        pollfd(fd: wake ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      let count = poll(&descriptors, 2, Int32(clamping: left))
      if count < 0 && errno == EINTR { continue }
      if descriptors[1].revents != 0 { return .woken }
      if descriptors[0].revents != 0 { return .readable }
      return .late
    }
  }

  private func consume() throws(Failure) {
    guard PQconsumeInput(handle) == 1 else { throw lost() }
  }

  private func lost() -> Failure {
    Failure(
      message: oneLine(PQerrorMessage(handle)),
      sqlState: nil,
      isConnectionLost: true
    )
  }
}
