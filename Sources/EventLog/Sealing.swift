/// What stands between a payload and the table: one function each way.
///
/// The stored form is the payload itself, for now; everything that writes or reads a payload goes
/// through here, so that sealing it under the user's key changes this file alone.
enum Sealing {
  /// The form in which `payload` is stored.
  static func seal(_ payload: [UInt8]) -> [UInt8] { payload }

  /// The payload of a stored form.
  static func open(_ stored: some Sequence<UInt8>) -> [UInt8] { Array(stored) }
}
