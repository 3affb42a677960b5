import EventLog
import Glibc
import Keys
import Postgres

extension Database {
  /// Whether the log has payloads that were written before there was sealing; its schema is the
  /// right one.
  func hasPlainPayloads() throws -> Bool {
    let connection = try BlockingConnection(target: target, applicationName: "jejak sealing")
    return try !SealingRecord.read(connection).isComplete
  }

  /// Seals what was written before there was sealing; `goOn` is told how far it is.
  ///
  /// Not where a checkpoint is kept outside: it says that the log was signed, and so was sealed.
  func seal(_ goOn: (_ done: Int64, _ total: Int64) -> Bool) throws -> LogSealing.Outcome {
    if let path = SigningKey.checkpointFile(settings), access(path, F_OK) == 0 {
      throw CommandError("\(path) is there: \(SealingError.isSigned)")
    }
    return try LogSealing(target: target, keyring: keyring()).run(goOn)
  }
}
