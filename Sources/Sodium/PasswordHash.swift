import CSodium

/// Argon2id (RFC 9106) in PHC strings, with one lane and a random 16-byte salt.
public enum PasswordHash {
  /// Memory of one computation, in bytes: 19 MiB, the least that OWASP recommends.
  public static let memory = 19 << 20
  /// Passes over that memory.
  public static let passes: UInt64 = 2

  /// The hash of `password`, as `$argon2id$v=19$m=19456,t=2,p=1$…`; nil where memory ran out.
  public static func make(_ password: [UInt8]) -> String? {
    Sodium.ready()
    var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
    let status = crypto_pwhash_str_alg(
      &text,
      password.map(CChar.init(bitPattern:)),
      UInt64(password.count),
      passes,
      memory,
      crypto_pwhash_ALG_ARGON2ID13
    )
    guard status == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Whether `password` is the one that `hash` was made of, in the time that its parameters take.
  public static func verify(_ password: [UInt8], against hash: String) -> Bool {
    Sodium.ready()
    return crypto_pwhash_str_verify(
      hash,
      password.map(CChar.init(bitPattern:)),
      UInt64(password.count)
    ) == 0
  }
}
