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
