import Files
import MerkleTree
import Notary
import Settings

/// The key that signs the log, and the files that go with it.
struct SigningKey: Sendable {
  let signer: NoteSigner
  let file: SigningKeyFile
  /// Whether the key was made just now.
  let isNew: Bool
  /// Where the last checkpoint is kept; nil for nowhere.
  let checkpointFile: String?

  /// Reads the key; makes it where there is none and the database is the embedded one.
  init(_ settings: Settings) throws {
    let file = try Self.file(settings)
    self.file = file
    checkpointFile = Self.checkpointFile(settings)
    do throws(SmallFileError) {
      if settings.signingKeyFile == nil {
        (signer, isNew) = try file.readOrCreate()
      } else {
        (signer, isNew) = (try file.read(), false)
      }
    } catch {
      throw CommandError("the signing key can't be used: \(error)")
    }
  }

  /// The file that the settings name.
  static func file(_ settings: Settings) throws -> SigningKeyFile {
    if let path = settings.signingKeyFile { return SigningKeyFile(path) }
    guard settings.databaseURL == nil else {
      throw CommandError(
        "JEJAK_SIGNING_KEY_FILE (--signing-key-file) is not set, the file with the key that the log "
          + "is signed with: put your copy back, or make a key with jejak checkpoint key --origin "
          + "NAME"
      )
    }
    return SigningKeyFile(settings.dataDirectory + "/signing-key")
  }

  /// The public key of the file that the settings name; nil where there is none, as on a machine
  /// that doesn't serve.
  static func verifier(_ settings: Settings) throws -> NoteVerifier? {
    guard settings.signingKeyFile != nil || settings.databaseURL == nil else { return nil }
    let file = try file(settings)
    do throws(SmallFileError) {
      return try file.read().verifier
    } catch {
      if error.isMissing { return nil }
      throw CommandError("the signing key can't be used: \(error)")
    }
  }

  /// Where the settings say that the last checkpoint is kept.
  static func checkpointFile(_ settings: Settings) -> String? {
    settings.checkpointFile
      ?? (settings.databaseURL == nil ? settings.dataDirectory + "/checkpoint" : nil)
  }
}
