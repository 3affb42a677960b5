extension Identifier: LosslessStringConvertible {
  /// The 36 characters of `text`, in either case; nil for anything else.
  @inlinable
  public init?(_ text: some StringProtocol) {
    var halves: (UInt64, UInt64) = (0, 0)
    var index = 0
    for byte in text.utf8 {
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
      } else {
        let digit: UInt8
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
        default: return nil
        }
        if index < 18 {
          halves.0 = halves.0 << 4 | UInt64(digit)
        } else {
          halves.1 = halves.1 << 4 | UInt64(digit)
        }
      }
      index += 1
      guard index <= 36 else { return nil }
    }
    guard index == 36 else { return nil }
    self.init(high: halves.0, low: halves.1)
  }

  /// The 36 characters, in lower case.
  @inlinable public var description: String {
    String(unsafeUninitializedCapacity: 36) { buffer in
      var position = 0
      for nibble in 0..<32 {
        if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
          buffer[position] = UInt8(ascii: "-")
          position += 1
        }
        let half = nibble < 16 ? high : low
        let digit = UInt8(truncatingIfNeeded: half >> (60 - 4 * (nibble & 15))) & 15
        buffer[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        position += 1
      }
      return 36
    }
  }
}

/// Names a user.
public typealias UserID = Identifier<User>

/// Names an event.
public typealias EventID = Identifier<Event>

/// Names a session.
public typealias SessionID = Identifier<Session>

/// A signed-in client; the domain knows no more of it than its name.
public enum Session {}
