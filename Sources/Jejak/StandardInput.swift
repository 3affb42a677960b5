import Glibc

/// Standard input as a file operand, `-`.
enum StandardInput {
  static let operand = "-"

  /// All of it; more than `limit` bytes are refused.
  static func read(limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(0, &piece, piece.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else {
        throw CommandError("can't read standard input: \(String(cString: strerror(errno)))")
      }
      if count == 0 { return bytes }
      bytes += piece[..<count]
      guard bytes.count <= limit else { throw CommandError("standard input is too large") }
    }
  }
}
