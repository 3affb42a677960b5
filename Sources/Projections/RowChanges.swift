/// What `Projection.write` is given, sorted into what stands and what goes.
enum RowChanges {
  /// The rows to be written and the keys of those to be removed, each in the order of the keys.
  ///
  /// Rows are locked in that order, wherever they are written.
  static func split<Key: Hashable & Comparable, Row>(
    _ rows: [Key: Row?]
  ) -> (written: [Row], removed: [Key]) {
    var written: [Row] = []
    var removed: [Key] = []
    written.reserveCapacity(rows.count)
    for (key, row) in rows.sorted(by: { $0.key < $1.key }) {
      if let row { written.append(row) } else { removed.append(key) }
    }
    return (written, removed)
  }
}
