import Glibc

/// Standard output carries data and nothing else; everything else goes to standard error.
enum Output {
  static func write(_ text: String) { write(text, to: 1) }

  static func complain(_ text: String) { write(text, to: 2) }

  private static func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      // Nobody reads any more, so there is nobody to tell.
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
