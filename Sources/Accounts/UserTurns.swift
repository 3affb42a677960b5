import EventLoop
import Profiles

/// Lets the commands of one event loop for one user take turns, and hands each the state that the
/// one before it left, so that a busy user's commands neither collide nor load it again.
///
/// Commands of other loops and processes are kept apart by versions.
final class UserTurns: Sendable {
  /// Commands that may wait for one user.
  static let queueLimit = 1024

  private typealias Waiting = CheckedContinuation<CurrentUser?, Never>

  /// A user has an entry while a command has the turn.
  private let queues: LoopBound<[UserID: FIFO<Waiting>]>

  init(loop: EventLoop) {
    queues = LoopBound([:], on: loop)
  }

  /// Waits for the turn. Returns `user` where nobody had it, else what the last one left; nil
  /// where the state must be loaded again.
  func take(_ user: CurrentUser) async throws(AccountsError) -> CurrentUser? {
    let id = user.id
    guard let queue = queues.value[id] else {
      queues.value[id] = FIFO()
      return user
    }
    guard queue.count < Self.queueLimit else { throw .overloaded }
    return await withCheckedContinuation { queues.value[id]?.append($0) }
  }

  /// Passes the turn on, with the state that is now current, if that is known.
  func pass(_ id: UserID, _ user: CurrentUser?) {
    guard let next = queues.value[id]?.popFirst() else {
      queues.value[id] = nil
      return
    }
    next.resume(returning: user)
  }
}
