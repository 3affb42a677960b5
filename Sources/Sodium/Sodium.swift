import CSodium

/// libsodium, made ready before its first use.
enum Sodium {
  /// Below zero where the system gives no random bytes; nothing can be done without them.
  private static let status = sodium_init()

  static func ready() {
    precondition(status >= 0, "libsodium could not be initialised")
  }
}
