public import Sodium

/// All that shows, without the log, that an entry is in it (C2SP tlog-proof).
public struct TreeProof: Equatable, Sendable, CustomStringConvertible {
  private static let title = "c2sp.org/tlog-proof@v1"
  private static let extraMark = "extra "
  private static let indexMark = "index "

  /// Why a proof proves nothing.
  public enum Flaw: Error, Sendable {
    /// The note is no checkpoint, or not one that the key has signed.
    case checkpoint
    /// The entry is not in the tree of the checkpoint.
    case inclusion
  }

  /// What is said beside the proof, and is not proven by it.
  public let extra: [UInt8]?
  /// The entry's place in the log, from 0.
  public let index: Int64
  /// The hashes of the inclusion proof.
  public let hashes: [TreeHash]
  /// The note of the checkpoint.
  public let checkpoint: SignedNote

  /// A proof of these parts.
  public init(extra: [UInt8]?, index: Int64, hashes: [TreeHash], checkpoint: SignedNote) {
    self.extra = extra
    self.index = index
    self.hashes = hashes
    self.checkpoint = checkpoint
  }

  /// Reads a proof, without verifying anything; nil where it is none.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count <= SignedNote.byteLimit else { return nil }
    var rest = Array(bytes)[...]
    func line() -> String? {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      defer { rest = rest[(end + 1)...] }
      return String(validating: rest[..<end], as: UTF8.self)
    }
    guard line() == Self.title, var next = line() else { return nil }
    if next.hasPrefix(Self.extraMark) {
      guard let decoded = Base64.decode(next.dropFirst(Self.extraMark.count)), let line = line()
      else { return nil }
      extra = decoded
      next = line
    } else {
      extra = nil
    }
    guard next.hasPrefix(Self.indexMark),
      let index = Int64(decimal: next.dropFirst(Self.indexMark.count))
    else { return nil }
    var hashes: [TreeHash] = []
    while true {
      guard let text = line() else { return nil }
      if text.isEmpty { break }
      // No tree is higher than its size has bits.
      guard hashes.count < Int64.bitWidth, let decoded = Base64.decode(text),
        let hash = TreeHash(decoded)
      else { return nil }
      hashes.append(hash)
    }
    guard let checkpoint = SignedNote(rest) else { return nil }
    self.index = index
    self.hashes = hashes
    self.checkpoint = checkpoint
  }

  /// The proof as a file has it.
  public var description: String {
    var lines = [Self.title]
    if let extra { lines.append(Self.extraMark + Base64.encode(extra)) }
    lines.append(Self.indexMark + index.description)
    lines += hashes.map { Base64.encode($0.bytes) }
    return lines.joined(separator: "\n") + "\n\n" + checkpoint.description
  }

  /// The checkpoint in whose tree `entry` is, by `verifier`'s word.
  public func verify(entry: [UInt8], by verifier: NoteVerifier) throws(Flaw) -> Checkpoint {
    guard let checkpoint = Checkpoint(checkpoint, by: verifier) else { throw .checkpoint }
    let proof = InclusionProof(index: index, size: checkpoint.size, hashes: hashes)
    guard proof.verifies(leaf: .leaf(entry), root: checkpoint.root) else { throw .inclusion }
    return checkpoint
  }
}
