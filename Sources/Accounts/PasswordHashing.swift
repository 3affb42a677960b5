public import EventLoop
import Profiles
import Sodium

/// Argon2id on a bounded pool of threads; a full queue is told at once.
public final class PasswordHashing: Sendable {
  private let pool: WorkerPool
  /// The hash that is verified where there is no account, so that it takes the same time.
  private let dummy: String

  /// A stored hash, and what the log knows of it.
  struct Stored: Sendable {
    /// The PHC string.
    let hash: String
    /// SHA-256 of it.
    let commitment: Commitment

    init(hash: String) {
      self.hash = hash
      // SHA-256 has the 32 bytes that a commitment has.
      commitment = Commitment(bytes: SHA256.digest(of: hash.utf8)).unsafelyUnwrapped
    }
  }

  /// Hashing on the threads of `pool`.
  public init(pool: WorkerPool) {
    self.pool = pool
    dummy = PasswordHash.make(RandomBytes.make(32)) ?? ""
  }

  /// Hashes a new password.
  func make(_ password: Password) async throws(AccountsError) -> Stored {
    let bytes = Array(password.text.utf8)
    guard let hash = try await run({ PasswordHash.make(bytes) }) else {
      throw .overloaded
    }
    return Stored(hash: hash)
  }

  /// Whether `password` belongs to `hash`; without a hash, false after the same time.
  func verify(_ password: Password, against hash: String?) async throws(AccountsError) -> Bool {
    let bytes = Array(password.text.utf8)
    let dummy = dummy
    let matches = try await run { PasswordHash.verify(bytes, against: hash ?? dummy) }
    return matches && hash != nil
  }

  private func run<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value
  ) async throws(AccountsError) -> Value {
    do {
      return try await pool.run(body)
    } catch {
      throw .overloaded
    }
  }
}
