import MerkleTree
import Settings

/// The option `--key`: public keys of a log, one a line, the newest first, as `GET /v1/log/key` has
/// them.
enum PublicKeys {
  static func parse(_ text: String) throws -> [NoteVerifier] {
    let lines = text.split(whereSeparator: \.isNewline)
    guard !lines.isEmpty else { throw malformed(text[...]) }
    return try lines.map { line in
      if let key = NoteVerifier(line) { return key }
      guard NoteVerifier.hasForm(line) else { throw malformed(line) }
      throw UsageError("--key: the id in '\(line)' is not that of its name and key")
    }
  }

  private static func malformed(_ line: Substring) -> UsageError {
    UsageError("--key: expected a public key of the form name+id+key, not '\(line)'")
  }
}
