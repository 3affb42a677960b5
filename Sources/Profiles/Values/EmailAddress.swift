/// An e-mail address that mail can reach: `dot-atom@domain` (RFC 5321), the domain in any script.
///
/// Quoted local parts, address literals and local parts beyond ASCII are refused: hardly anyone
/// has one, and few servers accept them.
public struct EmailAddress: Hashable, Sendable {
  /// The address as it was typed, trimmed.
  public let text: String
  /// What makes two addresses the same account, and where mail goes.
  ///
  /// All in lower case, the domain by UTS 46 (non-transitional) in A-labels.
  public let claimKey: String

  /// Bytes in an address and in its claim key, at most.
  public static let maximumLength = 254
  /// Bytes before the @, at most.
  public static let maximumLocalLength = 64

  /// The address that somebody typed; nil where it is none.
  public init?(_ typed: String) {
    guard let parsed = try? EmailAddress(checking: typed) else { return nil }
    self = parsed
  }

  /// The address that somebody typed, or why it is none.
  init(checking typed: String) throws(Problem) {
    let text = typed.trimmed.nfc
    guard !text.isEmpty else { throw Problem(.required, "An e-mail address is needed.") }
    guard text.utf8.count <= Self.maximumLength else {
      throw Problem(.tooLong, "An e-mail address has at most \(Self.maximumLength) bytes.")
    }
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, let local = String(parts[0]), let domain = String(parts[1]) else {
      throw Problem(.invalidEmail, "An e-mail address has exactly one @.")
    }
    guard local.utf8.count <= Self.maximumLocalLength else {
      throw Problem(
        .tooLong,
        "The part before the @ has at most \(Self.maximumLocalLength) characters."
      )
    }
    guard Self.isDotAtom(local) else {
      throw Problem(
        .invalidEmail,
        "The part before the @ may hold letters, digits and .!#$%&'*+/=?^_`{|}~- only."
      )
    }
    guard let name = DomainName(domain) else {
      throw Problem(.invalidEmail, "The part after the @ is not the name of a domain.")
    }
    self.text = text
    claimKey = "\(local.asciiLowercased)@\(name.ascii)"
    guard claimKey.utf8.count <= Self.maximumLength else {
      throw Problem(.tooLong, "An e-mail address has at most \(Self.maximumLength) bytes.")
    }
  }

  /// The address as it was stored, whatever today's rules say about it.
  ///
  /// Most are plain ASCII, whose key is the address in lower case: this is on the way of every
  /// update.
  init(stored text: String) {
    let lowercased = text.asciiLowercased
    let isPlain = lowercased.utf8.allSatisfy { $0 < 0x80 } && !lowercased.contains("xn--")
    if !isPlain, let parsed = EmailAddress(text) {
      self = parsed
    } else {
      self.text = text
      claimKey = lowercased
    }
  }

  /// The part before the @.
  var localPart: Substring { text.prefix { $0 != "@" } }

  /// RFC 5322 section 3.2.3: atoms of printable ASCII, single dots between them.
  private static func isDotAtom(_ text: String) -> Bool {
    var previous = UInt8(ascii: ".")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "."):
        if previous == byte { return false }
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        break
      default:
        guard "!#$%&'*+/=?^_`{|}~-".utf8.contains(byte) else { return false }
      }
      previous = byte
    }
    return previous != UInt8(ascii: ".")
  }
}
