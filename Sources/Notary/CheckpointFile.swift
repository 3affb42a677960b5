import Files
import MerkleTree

/// The last checkpoint, kept outside the database: what shows that the database was put back to
/// an earlier state.
struct CheckpointFile: Sendable {
  let path: String

  /// What the file says.
  enum Contents {
    /// There is none.
    case none
    /// A checkpoint under the key in use, and its note.
    case own(Checkpoint, SignedNote)
    /// A checkpoint under a key that this log was signed with before.
    case former(NoteVerifier)
  }

  /// Reads the file; `former` are the keys of before.
  func read(
    _ verifier: NoteVerifier,
    former: [NoteVerifier]
  ) throws(NotaryRefusal) -> Contents {
    let bytes: [UInt8]
    do throws(SmallFileError) {
      bytes = try SmallFile.read(path, for: .everybody)
    } catch {
      if error.isMissing { return .none }
      throw .checkpointFileIsUnusable(path: path, reason: error.reason)
    }
    guard let note = SignedNote(bytes) else { throw .checkpointFileIsInvalid(path: path) }
    if let checkpoint = Checkpoint(note, by: verifier) { return .own(checkpoint, note) }
    guard let signer = former.first(where: { Checkpoint(note, by: $0) != nil }) else {
      throw .checkpointFileIsInvalid(path: path)
    }
    return .former(signer)
  }

  /// Puts `note` into the file.
  func write(_ note: SignedNote) throws(NotaryRefusal) {
    do throws(SmallFileError) {
      try SmallFile.replace(path, Array(note.description.utf8), for: .everybody)
    } catch {
      throw .checkpointFileIsUnusable(path: error.path, reason: error.reason)
    }
  }

  /// Puts aside what a former key has signed, under the name of the file and the key's id.
  func putAside(_ former: NoteVerifier) throws(NotaryRefusal) {
    do throws(SmallFileError) {
      try SmallFile.putAside(path, as: former.keyIDText)
    } catch {
      throw .checkpointFileIsUnusable(path: error.path, reason: error.reason)
    }
  }
}
