/// The passwords that are tried first everywhere.
enum CommonPasswords {
  /// Whether `text`, which is in lower case, is one of them.
  ///
  /// A binary search in the list as it lies in the binary: nothing is loaded.
  static func contains(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { wanted in
      let list = UnsafeBufferPointer(
        start: commonPasswords.utf8Start,
        count: commonPasswords.utf8CodeUnitCount
      )
      var low = 0
      var high = list.count
      while low < high {
        let entry = entry(of: list, around: (low + high) / 2)
        if entry.elementsEqual(wanted) { return true }
        if entry.lexicographicallyPrecedes(wanted) {
          low = entry.endIndex + 1
        } else {
          high = entry.startIndex
        }
      }
      return false
    }
  }

  /// The entry that `index`, or the separator at it, belongs to.
  private static func entry(
    of list: UnsafeBufferPointer<UInt8>,
    around index: Int
  ) -> Slice<UnsafeBufferPointer<UInt8>> {
    func separates(_ byte: UInt8) -> Bool {
      byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n")
    }
    let start = list[..<index].lastIndex(where: separates).map { $0 + 1 } ?? 0
    let end = list[index...].firstIndex(where: separates) ?? list.count
    return list[start..<end]
  }
}
