import Glibc

/// Standard output carries data and nothing else; everything else goes to standard error.
enum Output {
  static func write(_ text: String) { write(Array(text.utf8), to: 1) }

  static func write(_ bytes: [UInt8]) { write(bytes, to: 1) }

  static func complain(_ text: String) { write(Array(text.utf8), to: 2) }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        // Data that can't be written is a failure; of messages there is nobody to tell.
        if descriptor == 1 { exit(with: .failure) }
        return
      }
      rest = rest.dropFirst(count)
    }
  }
}
