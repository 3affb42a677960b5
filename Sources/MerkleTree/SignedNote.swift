import Sodium

/// A signed note of C2SP: a text, and signatures of any number of keys.
public struct SignedNote: Equatable, Sendable, CustomStringConvertible {
  /// Bytes of a note at most.
  public static let byteLimit = 1_000_000
  /// Signatures of a note at most.
  public static let signatureLimit = 100

  /// A line that says who has signed.
  public struct Signature: Equatable, Sendable {
    /// The name of the key.
    public let name: String
    /// The number that tells keys of a name apart.
    public let keyID: UInt32
    /// What the key's algorithm gave.
    public let bytes: [UInt8]

    /// A signature.
    public init(name: String, keyID: UInt32, bytes: [UInt8]) {
      self.name = name
      self.keyID = keyID
      self.bytes = bytes
    }
  }

  /// What is signed, with its last newline.
  public let text: String
  /// Who has signed, by their own account.
  public let signatures: [Signature]

  /// A note of these parts.
  public init(text: String, signatures: [Signature]) {
    self.text = text
    self.signatures = signatures
  }

  /// Reads a note, without verifying anything; nil where it is none.
  public init?(_ bytes: some BidirectionalCollection<UInt8>) {
    guard bytes.count <= Self.byteLimit,
      bytes.allSatisfy({ $0 >= 0x20 || $0 == UInt8(ascii: "\n") }), bytes.last == 0x0A
    else { return nil }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    // The last line is what follows the last newline.
    guard let blank = lines.dropLast().lastIndex(where: \.isEmpty), blank > 0 else { return nil }
    let signed = lines[(blank + 1)...].dropLast()
    guard !signed.isEmpty, signed.count <= Self.signatureLimit else { return nil }
    var signatures: [Signature] = []
    for line in signed {
      guard let signature = Signature(line) else { return nil }
      signatures.append(signature)
    }
    var text: [UInt8] = []
    for line in lines[..<blank] {
      text += line
      text.append(UInt8(ascii: "\n"))
    }
    guard let text = String(validating: text, as: UTF8.self) else { return nil }
    self.init(text: text, signatures: signatures)
  }

  /// The note as it is published.
  public var description: String {
    text + "\n" + signatures.map { "\($0)\n" }.joined()
  }

  /// The same with one more signature.
  public func signed(by signer: NoteSigner) -> SignedNote {
    SignedNote(text: text, signatures: signatures + [signer.sign(text)])
  }

  /// Whether `verifier`'s key has signed, and no signature that claims to be its own is false.
  public func isSigned(by verifier: NoteVerifier) -> Bool {
    let claimed = signatures.filter {
      $0.name.utf8.elementsEqual(verifier.name.utf8) && $0.keyID == verifier.keyID
    }
    return !claimed.isEmpty && claimed.allSatisfy { verifier.verifies($0.bytes, of: text) }
  }
}

extension SignedNote.Signature: CustomStringConvertible {
  private static let mark = "\u{2014} "
  private static let keyIDCount = 4

  /// The line, without its newline.
  public var description: String {
    let id = (0..<Self.keyIDCount).map { UInt8(truncatingIfNeeded: keyID >> (24 - 8 * $0)) }
    return Self.mark + name + " " + Base64.encode(id + bytes)
  }

  fileprivate init?(_ line: some Collection<UInt8>) {
    guard line.starts(with: Self.mark.utf8) else { return nil }
    let parts = line.dropFirst(Self.mark.utf8.count)
      .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 2, let name = String(validating: parts[0], as: UTF8.self),
      NoteVerifier.isName(name), let text = String(validating: parts[1], as: UTF8.self),
      let decoded = Base64.decode(text), decoded.count > Self.keyIDCount
    else { return nil }
    let keyID = decoded.prefix(Self.keyIDCount).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    self.init(name: name, keyID: keyID, bytes: Array(decoded.dropFirst(Self.keyIDCount)))
  }
}
