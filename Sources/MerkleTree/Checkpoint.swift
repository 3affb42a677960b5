public import Sodium

/// What a log says of itself at some size (C2SP tlog-checkpoint).
public struct Checkpoint: Equatable, Sendable {
  /// Which log it is.
  public let origin: String
  /// How many leaves its tree has.
  public let size: Int64
  /// The root of the tree.
  public let root: TreeHash
  /// Further lines, of which nothing is known.
  public let extensions: [String]

  /// What a log says of itself.
  public init(origin: String, size: Int64, root: TreeHash, extensions: [String] = []) {
    self.origin = origin
    self.size = size
    self.root = root
    self.extensions = extensions
  }

  /// Reads the text of a note; nil where it is no checkpoint.
  public init?(text: String) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    // What follows the last newline.
    guard lines.popLast() == "", lines.count >= 3, lines.allSatisfy({ !$0.isEmpty }),
      let size = Int64(decimal: lines[1]), let bytes = Base64.decode(lines[2]),
      let root = TreeHash(bytes)
    else { return nil }
    self.init(
      origin: String(lines[0]),
      size: size,
      root: root,
      extensions: lines[3...].map { String($0) }
    )
  }

  /// The checkpoint of a note; nil where it is none, or `verifier`'s key has not signed it, or it
  /// is of another origin than the key.
  public init?(_ note: SignedNote, by verifier: NoteVerifier) {
    guard note.isSigned(by: verifier) else { return nil }
    self.init(text: note.text)
    guard origin == verifier.name else { return nil }
  }

  /// The text that is signed.
  public var text: String {
    var lines = [origin, size.description, Base64.encode(root.bytes)] + extensions
    lines.append("")
    return lines.joined(separator: "\n")
  }

  /// The checkpoint as a note that `signer` has signed.
  public func signed(by signer: NoteSigner) -> SignedNote {
    SignedNote(text: text, signatures: []).signed(by: signer)
  }
}
