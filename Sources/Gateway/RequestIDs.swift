/// Makes ids for requests that bring none: 64 bits as 16 hexadecimal digits.
///
/// They tell requests apart and keep no secret, so a generator without system calls serves
/// (SplitMix64, by G. Steele and others), seeded by the system.
struct RequestIDs {
  private var state = UInt64.random(in: .min ... .max)

  mutating func next() -> String {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    bits ^= bits >> 31
    return String(unsafeUninitializedCapacity: 16) { buffer in
      for index in 0..<16 {
        let digit = UInt8(truncatingIfNeeded: bits >> (60 - 4 * index)) & 15
        buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
      }
      return 16
    }
  }
}
