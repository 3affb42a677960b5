import JSON
public import Keys
import Synchronization

/// What `/readyz` says of the master key in use; the process tells it now and then.
///
/// A key that has left the file leaves the service fit until it ends, and somebody has to know of it
/// by then. One that the process never knew makes it unfit: others may know it.
public final class KeyHealth: Sendable {
  private struct State {
    var standing = Keyring.Standing.good
    var masterKey: Int32 = 0
    var lacking: Lacking?
  }

  /// A master key that is not known, and how many users' keys it wraps.
  public typealias Lacking = (masterKey: Int32, users: Int64)

  private let state = Mutex(State())

  /// Nothing is known to be wrong.
  public init() {}

  /// Says how the key file stands to the key in use now; how it stood before.
  public func set(_ new: Keyring.Standing, masterKey: Int32) -> Keyring.Standing {
    state.withLock { state in
      defer { (state.standing, state.masterKey) = (new, masterKey) }
      return state.standing
    }
  }

  /// Says which other master key is lacking now; which one was before.
  public func set(lacking new: Lacking?) -> Lacking? {
    state.withLock { state in
      defer { state.lacking = new }
      return state.lacking
    }
  }

  /// What is to be told of a file that lacks the key; nil where all is well.
  ///
  /// Throws where the process doesn't know the key either.
  var report: JSON? {
    get throws(Problem) {
      let state = state.withLock { $0 }
      switch state.standing {
      case .good:
        return state.lacking.map { masterKey, users in
          [
            "masterKey": .integer(Int64(masterKey)), "code": "master-key-missing",
            "reason": .string(
              "the key file has no master key \(masterKey), by which keys of users are wrapped"
            ), "users": .integer(users),
          ]
        }
      case .remembered(let error):
        return [
          "masterKey": .integer(Int64(state.masterKey)), "code": .string(error.code),
          "reason": .string(error.description),
        ]
      case .unknown(let error): throw .masterKeyUnknown(state.masterKey, error)
      }
    }
  }
}
