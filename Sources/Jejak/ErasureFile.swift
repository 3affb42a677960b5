import Accounts
import Postgres
import Settings

extension Settings {
  /// Where the list of erasures is kept outside the database; nil for nowhere.
  ///
  /// Beside the embedded database there is always one; of another database it has to be said where,
  /// since the data directory is nothing to it.
  var erasureListPath: String? {
    if let erasureFile { return erasureFile }
    return databaseURL == nil ? dataDirectory + "/erasures.jsonl" : nil
  }
}

extension Database {
  /// Makes the list of erasures of an embedded database that is new, so that a list that is missing
  /// later on is one that was lost.
  ///
  /// Once the log has an event nothing is made: it may have been put back to before an erasure.
  func beginErasureList() throws {
    guard lease != nil, let path = settings.erasureListPath else { return }
    let list = ErasureList(path: path)
    guard !list.exists else { return }
    let connection = try BlockingConnection(target: target, applicationName: "jejak erasures")
    guard try connection.query("select from events limit 1").count == 0 else { return }
    try list.add([])
  }
}
