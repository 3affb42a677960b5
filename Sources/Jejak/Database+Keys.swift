import EventLog
import Files
import Keys
import Postgres
import Settings

extension Database {
  /// What the key file of an embedded database is called, in the data directory.
  private static let keyFileName = "master-keys"

  /// The path of the key file.
  func masterKeyFile() throws -> String { try Self.masterKeyFile(settings) }

  /// The path of the key file of the database that the settings name.
  static func masterKeyFile(_ settings: Settings) throws -> String {
    if let path = settings.masterKeyFile { return path }
    guard settings.databaseURL == nil else {
      throw CommandError(
        "JEJAK_MASTER_KEY_FILE (--master-key-file) is not set, the file with the keys that the log's "
          + "payloads are sealed with: \(KeyFileError.advice)"
      )
    }
    return settings.dataDirectory + "/" + keyFileName
  }

  /// The keys of a log that has the right schema.
  ///
  /// Without `checks`, also of one whose table `sealing` says otherwise than the secret does.
  func keyring(checks: Bool = true) throws -> Keyring {
    let keyring = Keyring(file: try masterKeyFile())
    try open(keyring, checks: checks) { path in
      Output.complain("jejak: made \(path); keep a copy apart from the database\n")
    }
    return keyring
  }

  /// Opens `keyring` with the master key that the log has in use; a log that has none takes the
  /// newest of the file.
  ///
  /// For an embedded database the file is made where it is missing, and `made` is told; but not where
  /// a key is in use, which a new one couldn't stand for.
  func open(_ keyring: Keyring, checks: Bool = true, made: (String) -> Void) throws {
    let connection = try BlockingConnection(target: target, applicationName: "jejak keys")
    var record = try SealingRecord.read(connection)
    if record.inUse == nil {
      guard try !SealingRecord.hasLostItsKey(connection) else { throw SealingError.keyIsGone }
      let path = try masterKeyFile()
      if lease != nil, settings.masterKeyFile == nil,
        try SmallFile.make(path, Array(MasterKeys().text.utf8))
      {
        made(path)
      }
      try SealingRecord.begin(
        Keyring.begin(MasterKeys(file: path), isComplete: record.isComplete),
        connection
      )
      record = try SealingRecord.read(connection)
    }
    guard let inUse = record.inUse else {
      throw CommandError("the log has no master key in use; the table sealing was altered")
    }
    try keyring.open(inUse)
    if checks { try record.check(keyring) }
  }
}
