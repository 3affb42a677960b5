import CSodium

/// Unpredictable bytes of the system's generator.
public enum RandomBytes {
  /// `count` bytes, fit for keys and tokens.
  public static func make(_ count: Int) -> [UInt8] {
    Sodium.ready()
    var bytes = [UInt8](repeating: 0, count: count)
    randombytes_buf(&bytes, count)
    return bytes
  }
}
