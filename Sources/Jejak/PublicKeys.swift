import MerkleTree
import Settings

/// The option `--key`: public keys of a log, one a line, the newest first, as `GET /v1/log/key` has
/// them.
enum PublicKeys {
  static func parse(_ text: String) throws -> [NoteVerifier] {
    let lines = text.split(whereSeparator: \.isNewline)
    let keys = lines.compactMap { NoteVerifier(String($0)) }
    guard !keys.isEmpty, keys.count == lines.count else {
      throw UsageError("--key: expected a public key of the form name+id+key, not '\(text)'")
    }
    return keys
  }
}
