import CSodium

/// Argon2id (RFC 9106) in PHC strings, with one lane and a random 16-byte salt.
public enum PasswordHash {
  /// Memory of one computation, in bytes: 19 MiB, the least that OWASP recommends.
  public static let memory = 19 << 20
  /// Passes over that memory.
  public static let passes: UInt64 = 2
  /// Memory and passes of a hash that is verified, at most, as multiples of those: whoever can write
  /// hashes must not be able to make a sign-in last for ever.
  private static let multipleLimit = 4

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

  /// Whether `password` is the one that `hash` was made of, in the time that its parameters take; a
  /// hash that costs more than four times the memory or passes of `make` is nobody's.
  public static func verify(_ password: [UInt8], against hash: String) -> Bool {
    Sodium.ready()
    guard isAffordable(hash) else { return false }
    return crypto_pwhash_str_verify(
      hash,
      password.map(CChar.init(bitPattern:)),
      UInt64(password.count)
    ) == 0
  }

  /// Whether the parameters of a PHC string, its third field, are within the limits.
  private static func isAffordable(_ hash: String) -> Bool {
    let fields = hash.split(separator: "$", maxSplits: 3, omittingEmptySubsequences: true)
    guard fields.count == 4, fields[0] == "argon2id" else { return false }
    let parameters = fields[2].split(separator: ",").map { $0.split(separator: "=") }
    func value(_ name: String) -> Int? {
      let named = parameters.filter { $0.count == 2 && $0[0] == name }
      return named.count == 1 ? Int(named[0][1]) : nil
    }
    guard parameters.count == 3, let kibibytes = value("m"), let passes = value("t"),
      value("p") == 1
    else { return false }
    return (1...multipleLimit * (memory >> 10)).contains(kibibytes)
      && (1...multipleLimit * Int(Self.passes)).contains(passes)
  }
}
